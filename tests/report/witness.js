// What a page does and shows, reported to the frame around it: PAGE is its name, READABLE the least contrast of text.
window.told = [];
addEventListener("error", (event) => told.push("error: " + (event.message || event.target.outerHTML)), true);
addEventListener("unhandledrejection", (event) => told.push("rejected: " + event.reason));
addEventListener("securitypolicyviolation", (event) => told.push("refused: " + event.blockedURI));
for (const level of ["error", "warn"]) console[level] = (...parts) => told.push(level + ": " + parts.join(" "));
addEventListener("load", () => setTimeout(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const filled = (canvas) => {
    const values = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return values.some((value) => value !== 0);
  };
  const parts = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const [red, green, blue] = parts(color).map((part) => linear(part / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (node) => {
    const own = node ? getComputedStyle(node).backgroundColor : "rgb(255, 255, 255)";
    return parts(own)[3] === 0 ? behind(node.parentElement) : own;
  };
  const contrast = (node) => {
    const style = getComputedStyle(node);
    const own = luminance(node.closest("svg") ? style.fill : style.color) + 0.05;
    const under = luminance(behind(node)) + 0.05;
    return Math.max(own / under, under / own);
  };
  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
  const written = (node) => node.checkVisibility() && [...node.childNodes].some(isText);
  const outside = (label) => {
    const [own, chart] = [label, label.closest(".chart")].map((node) => node.getBoundingClientRect());
    const across = own.left < chart.left - 1 || own.right > chart.right + 1;
    return own.width && (across || own.top < chart.top - 1 || own.bottom > chart.bottom + 1);
  };
  parent.postMessage(JSON.stringify({
    name: PAGE,
    told,
    fetched: performance.getEntriesByType("resource").map((entry) => entry.name),
    canvases: all("canvas").map(filled),
    charts: all(".chart").map((chart) => chart.querySelectorAll(".trace").length),
    cut: all(".chart svg text").filter(outside).map((label) => label.textContent),
    faint: all("body *")
      .filter((node) => written(node) && contrast(node) < READABLE)
      .map((node) => [node.tagName, node.textContent, contrast(node)]),
    width: [document.documentElement.scrollWidth, innerWidth],
    paper: luminance(behind(document.body)),
    sections: all("section").map((section) => section.id),
    busiest: all(".busiest tbody tr").map((row) => row.innerText.split("\t")),
    choices: all(".choose select").map((select) => select.options.length),
  }), "*");
}, 500));
