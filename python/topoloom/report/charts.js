"use strict";
(() => {
  const { data, color, escape } = report;
  const figures = data.figures ?? data.traffics;
  const charts = [...document.querySelectorAll(".chart[data-chart]")];
  let toPaper = false;
  const hidden = { network: new Set(), role: new Set() };
  const dashes = ["solid", "dash", "dot", "dashdot"];
  const marks = report.symbols;
  const mostMarked = 60; // marks of more points of one line hide it
  const isShown = (series) => series.fixed || (!hidden.network.has(series.network) && !hidden.role.has(series.role));
  const number = (value, decimals) => (value === null ? "–" : value.toFixed(decimals));

  const hover = (series, point) =>
    `<b>${escape(series.spec)}</b>  ${escape(series.routing)}<br>` +
    `offered ${point.offered}, accepted ${number(point.accepted, 3)}<br>` +
    `latency ${number(point.latency_cycles, 2)} ± ${number(point.latency_ci95, 2)} cycles<br>` +
    `p50 ${number(point.p50, 0)}, p99 ${number(point.p99, 0)} cycles, ${number(point.hops, 2)} routers visited` +
    (point.stable ? "" : "<br>past saturation") +
    (point.converged ? "" : "<br>not converged");

  // The outline of a confidence band: up along its upper edge, and back along its lower one.
  const band = (series) => {
    const known = series.latency.filter((p) => p.stable && p.latency_ci95 !== null);
    const back = [...known].reverse();
    return {
      type: "scatter",
      mode: "lines",
      visible: isShown(series),
      x: [...known, ...back].map((p) => p.offered),
      y: [...known.map((p) => p.latency_cycles + p.latency_ci95), ...back.map((p) => p.latency_cycles - p.latency_ci95)],
      fill: "toself",
      fillcolor: color(`--n${series.network % 8}`),
      opacity: 0.22,
      line: { width: 0 },
      hoverinfo: "skip",
    };
  };

  // What saturation cannot exceed, as a mark on the axis of loads; a bound of 1 says nothing.
  const limits = (traffic) => {
    const series = traffic.series.filter((s) => s.bound !== null && s.bound < 1);
    return {
      type: "scatter",
      mode: "markers",
      cliponaxis: false,
      x: series.filter(isShown).map((s) => s.bound),
      y: series.filter(isShown).map(() => 0),
      marker: {
        symbol: series.filter(isShown).map((s) => (s.role ? "triangle-up-open" : "triangle-up")),
        size: 10,
        color: series.filter(isShown).map((s) => color(`--n${s.network % 8}`)),
      },
      text: series.filter(isShown).map((s) => `<b>${escape(s.spec)}</b>  ${escape(s.routing)}<br>saturates at ${s.bound.toFixed(3)} at most`),
      hovertemplate: "%{text}<extra></extra>",
    };
  };

  const trace = (series, kind) => {
    const points = series[kind];
    const own = color(`--n${series.network % 8}`);
    const paper = color("--paper");
    return {
      type: "scatter",
      mode: "lines+markers",
      name: escape(`${series.spec} ${series.routing}`),
      visible: isShown(series),
      x: points.map((p) => p.offered),
      y: points.map((p) => (kind === "latency" ? p.latency_cycles : p.accepted)),
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

  const axis = (title, range) => ({ ...report.axis(title), range });

  // Cost against saturation: one mark a network, and the line of those that none beats in both.
  const values = (traffic) => [
    {
      type: "scatter",
      mode: "lines",
      x: traffic.front.map((m) => m.cost),
      y: traffic.front.map((m) => m.saturation),
      line: { color: color("--soft"), width: 1.4, dash: "dot" },
      hoverinfo: "skip",
    },
    {
      type: "scatter",
      mode: "markers+text",
      cliponaxis: false,
      x: traffic.marks.map((m) => m.cost),
      y: traffic.marks.map((m) => m.saturation),
      text: traffic.marks.map((m) => escape(m.label)),
      textposition: traffic.marks.map((m) => (m.lower ? "bottom center" : "top center")),
      textfont: { size: 12, color: traffic.marks.map((m) => color(`--n${m.network % 8}`)) },
      marker: {
        symbol: traffic.marks.map((m) => marks[m.network % 8]),
        size: 12,
        color: traffic.marks.map((m) => (m.best ? color(`--n${m.network % 8}`) : color("--paper"))),
        line: { color: traffic.marks.map((m) => color(`--n${m.network % 8}`)), width: 2 },
      },
      customdata: traffic.marks.map((m) => `<b>${escape(m.spec)}</b>  ${escape(m.routing)}<br>$${m.cost.toFixed(0)} per terminal, saturates at ${m.saturation.toFixed(2)}`),
      hovertemplate: "%{customdata}<extra></extra>",
    },
  ];

  const costs = (traffic) => {
    const all = traffic.marks.map((m) => m.cost);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const room = Math.max(0.25 * (high - low), 0.05 * high);
    return [Math.max(0, low - room), high + room];
  };

  // Lines or bars of any values; what a paper prints of them are hollow marks in the same place, in the colour of their line.
  const valuesOf = (figure, kind) =>
    figure.series.flatMap((series) => {
      const own = color(`--n${series.colour % 8}`);
      const place = kind === "bars" ? { type: "bar", marker: { color: own }, offsetgroup: series.colour } : {
        type: "scatter",
        mode: series.x.length > mostMarked ? "lines" : "lines+markers",
        line: { color: own, width: 2 },
        marker: { symbol: marks[series.colour % 8], size: 7, color: own },
      };
      const measured = { ...place, name: escape(series.label), x: series.x, y: series.y, hovertemplate: `<b>${escape(series.label)}</b><br>%{x}: %{y:.4~g}<extra></extra>` };
      if (!series.published.length) return [measured];
      const hollow = { symbol: "diamond-open", size: 11, color: kind === "bars" ? color("--ink") : own, line: { width: 2 } };
      const printed = { type: "scatter", mode: "markers", x: series.x, y: series.published, marker: hollow, offsetgroup: series.colour, cliponaxis: false, hovertemplate: `${escape(figure.published)}, ${escape(series.label)}<br>%{x}: %{y}<extra></extra>` };
      return [measured, printed];
    });

  const free = (figure, kind) => {
    const scale = figure.logarithmic ? { type: "log" } : {};
    const names = kind === "bars" ? { type: "category" } : scale;
    const low = figure.logarithmic ? {} : { rangemode: "tozero" };
    return [
      { ...axis(figure.xaxis, undefined), ...names },
      { ...axis(figure.yaxis, undefined), ...scale, ...low },
    ];
  };

  const axes = {
    lines: (figure) => free(figure, "lines"),
    bars: (figure) => free(figure, "bars"),
    latency: (traffic) => [
      axis("offered load, flits/cycle/terminal", [0, 1.02]),
      axis("latency, cycles", [0, traffic.latency_top]),
    ],
    throughput: () => [
      axis("offered load, flits/cycle/terminal", [0, 1.02]),
      axis("accepted load, flits/cycle/terminal", [0, 1.02]),
    ],
    value: (traffic) => [
      axis("cost per terminal, $", costs(traffic)),
      axis("saturation load, flits/cycle/terminal", [0, 1.08]),
    ],
  };

  const traces = (kind, traffic) => {
    if (kind === "value") return values(traffic);
    if (kind === "lines" || kind === "bars") return valuesOf(traffic, kind);
    const lines = traffic.series.map((series) => trace(series, kind));
    return kind === "latency" ? [...traffic.series.map(band), ...lines, limits(traffic)] : lines;
  };

  const layout = (kind, traffic) => {
    const [xaxis, yaxis] = axes[kind](traffic);
    return {
      ...report.layout(toPaper),
      xaxis,
      yaxis,
      shapes:
        kind === "throughput"
          ? [{ type: "line", x0: 0, y0: 0, x1: 1, y1: 1, line: { color: color("--soft"), width: 1, dash: "dot" }, layer: "below" }]
          : [],
    };
  };

  const config = {
    ...report.config,
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
    toImageButtonOptions: { format: "svg" },
  };

  const draw = () => {
    for (const chart of charts) {
      const kind = chart.dataset.chart;
      const traffic = figures[chart.dataset.traffic];
      Plotly.react(chart, traces(kind, traffic), layout(kind, traffic), config);
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

  for (const button of document.querySelectorAll(".legend button")) button.addEventListener("click", () => toggle(button));
  report.onDraw((printing) => {
    toPaper = printing;
    draw();
  });
})();
