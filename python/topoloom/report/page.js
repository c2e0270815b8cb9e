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
  return {
    data: JSON.parse(document.getElementById("data").textContent),
    color: (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
    redraw: () => draw(false),
    // Draws now, and again for another theme, for print and after it.
    onDraw: (drawer) => {
      drawers.push(drawer);
      drawer(false);
    },
  };
})();
