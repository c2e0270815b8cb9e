"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const charts = [...document.querySelectorAll(".chart")];
  let size = { autosize: true };
  const hidden = { network: new Set(), role: new Set() };
  const dashes = ["solid", "dash", "dot", "dashdot"];
  const marks = ["circle", "square", "diamond", "triangle-up", "triangle-down", "pentagon", "star", "hexagon"];
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const isShown = (series) => !hidden.network.has(series.network) && !hidden.role.has(series.role);
  const escape = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
  const number = (value, decimals) => (value === null ? "–" : value.toFixed(decimals));

  const hover = (series, point) =>
    `<b>${escape(series.spec)}</b>  ${escape(series.routing)}<br>` +
    `offered ${point.offered}, accepted ${number(point.accepted, 3)}<br>` +
    `latency ${number(point.latency_cycles, 2)} ± ${number(point.latency_ci95, 2)} cycles<br>` +
    `p50 ${number(point.p50, 0)}, p99 ${number(point.p99, 0)} cycles, ${number(point.hops, 2)} routers visited` +
    (point.stable ? "" : "<br>past saturation") +
    (point.converged ? "" : "<br>not converged");

  const trace = (series, kind) => {
    const points = series[kind];
    const own = color(`--n${series.network % 8}`);
    const paper = color("--paper");
    const interval = points.map((p) => (p.stable ? p.latency_ci95 : null));
    return {
      type: "scatter",
      mode: "lines+markers",
      name: escape(`${series.spec} ${series.routing}`),
      visible: isShown(series),
      x: points.map((p) => p.offered),
      y: points.map((p) => (kind === "latency" ? p.latency_cycles : p.accepted)),
      error_y: kind === "latency" ? { type: "data", array: interval, color: own, thickness: 1.2, width: 3 } : undefined,
      line: { color: own, width: 2, dash: dashes[series.role % 4] },
      marker: {
        symbol: marks[series.network % 8],
        size: 7,
        color: points.map((p) => (p.stable ? own : paper)),
        line: { color: own, width: 1.6 },
      },
      text: points.map((p) => hover(series, p)),
      hovertemplate: "%{text}<extra></extra>",
    };
  };

  const axis = (title, range) => ({
    title: { text: title, standoff: 8, font: { size: 12, color: color("--soft") } },
    range,
    gridcolor: color("--grid"),
    linecolor: color("--line"),
    zeroline: false,
    tickfont: { size: 12, color: color("--soft") },
    ticks: "",
  });

  const layout = (kind, traffic) => ({
    ...size,
    margin: { l: 52, r: 8, t: 10, b: 46 },
    paper_bgcolor: color("--paper"),
    plot_bgcolor: color("--paper"),
    font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: color("--ink") },
    showlegend: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: color("--raised"), bordercolor: color("--soft"), font: { color: color("--ink"), size: 12.5 }, align: "left" },
    xaxis: axis("offered load, flits/cycle/terminal", [0, 1.02]),
    yaxis:
      kind === "latency"
        ? axis("latency, cycles", [0, traffic.latency_top])
        : axis("accepted load, flits/cycle/terminal", [0, 1.02]),
    shapes:
      kind === "throughput"
        ? [{ type: "line", x0: 0, y0: 0, x1: 1, y1: 1, line: { color: color("--soft"), width: 1, dash: "dot" }, layer: "below" }]
        : [],
  });

  const config = {
    responsive: true,
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: "",
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
    toImageButtonOptions: { format: "svg" },
  };

  const draw = () => {
    for (const chart of charts) {
      const kind = chart.dataset.chart;
      const traffic = data.traffics[chart.dataset.traffic];
      Plotly.react(chart, traffic.series.map((series) => trace(series, kind)), layout(kind, traffic), config);
    }
  };

  const toggle = (button) => {
    const kind = "network" in button.dataset ? "network" : "role";
    const place = Number(button.dataset[kind]);
    const show = hidden[kind].delete(place);
    if (!show) hidden[kind].add(place);
    button.setAttribute("aria-pressed", String(show));
    draw();
  };

  const print = (printing) => {
    document.documentElement.classList.toggle("printing", printing);
    size = printing ? { width: 640, height: 340 } : { autosize: true };
    draw();
  };

  for (const button of document.querySelectorAll(".legend button")) button.addEventListener("click", () => toggle(button));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  draw();
})();
