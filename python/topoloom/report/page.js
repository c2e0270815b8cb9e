"use strict";
// What all figures share: the data, the colours of the reader's theme, and when to draw again.
const report = (() => {
  const drawers = [];
  const draw = (printing) => {
    for (const drawer of drawers) drawer(printing);
  };
  const print = (printing) => {
    document.documentElement.classList.toggle("printing", printing);
    draw(printing);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(false));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // What charts of all pages share: an axis, the layout, the marks of networks, the options of Plotly.
  // A title that is longer than a phone's chart is high breaks before its unit.
  const broken = (title) => (title.length > 40 ? title.replace(/, (?=[^,]*$)/, ",<br>") : title);
  const axis = (title) => ({
    automargin: true,
    title: { text: broken(title), standoff: 8, font: { size: 12, color: color("--soft") } },
    gridcolor: color("--grid"),
    linecolor: color("--line"),
    zeroline: false,
    tickfont: { size: 12, color: color("--soft") },
    ticks: "",
  });
  const layout = (printing) => ({
    ...(printing ? { width: 640, height: 340 } : { autosize: true }),
    margin: { l: 58, r: 12, t: 10, b: 48 },
    paper_bgcolor: color("--paper"),
    plot_bgcolor: color("--paper"),
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: color("--ink") },
    showlegend: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: color("--raised"), bordercolor: color("--soft"), font: { color: color("--ink"), size: 12.5 }, align: "left" },
  });
  return {
    axis,
    layout,
    symbols: [
      "circle", "square", "diamond", "triangle-up", "triangle-down", "pentagon", "star", "hexagon",
      "cross", "x", "triangle-left", "triangle-right", "star-diamond", "hexagram",
    ],
    // The same, as letters of a key.
    glyphs: ["●", "■", "◆", "▲", "▼", "⬟", "★", "⬢", "✚", "✖", "◀", "▶", "✦", "✶"],
    config: { responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "" },
    escape: (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]),
    data: JSON.parse(document.getElementById("data").textContent),
    color,
    redraw: () => draw(false),
    // Draws now, and again for another theme, for print and after it.
    onDraw: (drawer) => {
      drawers.push(drawer);
      drawer(false);
    },
  };
})();
