"use strict";
// The front as a scatter whose axes the reader chooses; a click on a finalist leads to its row. Shapes are families, and
// finalists have the colours of their rows.
(() => {
  const { data, color, escape, glyphs, symbols } = report;
  const { marks, families } = data.front;
  const chart = document.getElementById("scatter");
  const choices = { across: document.getElementById("across"), up: document.getElementById("up") };
  const names = data.front.axes.map(([name]) => name);
  const axes = Object.fromEntries(data.front.axes);
  const shown = (value) => `${Number(value.value.toPrecision(4))} (${value.is})`;

  for (const [place, choice] of Object.values(choices).entries()) {
    for (const name of names) choice.add(new Option(axes[name], name));
    choice.value = names[Math.min(place, names.length - 1)];
    choice.addEventListener("change", () => draw());
  }
  document.getElementById("families").innerHTML = families
    .map((family, place) => `<li><span>${glyphs[place % glyphs.length]}</span> ${escape(family)}</li>`)
    .join("");

  const hover = (mark) =>
    `<b>${escape(mark.spec)}</b>  ${escape(mark.routing)}<br>` +
    names
      .filter((name) => mark.values[name])
      .map((name) => `${escape(axes[name])}: ${shown(mark.values[name])}`)
      .join("<br>");

  const bars = (own, name) => ({
    type: "data",
    symmetric: false,
    // An end that is not known has no bar.
    array: own.map(({ values }) => (values[name].interval[1] ?? values[name].value) - values[name].value),
    arrayminus: own.map(({ values }) => values[name].value - (values[name].interval[0] ?? values[name].value)),
    thickness: 1,
    width: 0,
  });

  // A finalist, or all others.
  const trace = (finalist, x, y) => {
    const own = marks.filter((mark) => mark.finalist === finalist && mark.values[x] && mark.values[y]);
    const hue = color(finalist === null ? "--soft" : `--n${finalist % 8}`);
    return {
      type: "scatter",
      mode: "markers",
      cliponaxis: false,
      x: own.map((mark) => mark.values[x].value),
      y: own.map((mark) => mark.values[y].value),
      error_x: { ...bars(own, x), color: hue },
      error_y: { ...bars(own, y), color: hue },
      marker: {
        symbol: own.map((mark) => symbols[families.indexOf(mark.family) % symbols.length]),
        size: finalist === null ? 8 : 12,
        color: finalist === null ? color("--paper") : hue,
        line: { color: hue, width: 1.8 },
      },
      customdata: own.map((mark) => mark.spec),
      text: own.map(hover),
      hovertemplate: "%{text}<extra></extra>",
    };
  };

  const axis = (name) => ({ ...report.axis(axes[name]), rangemode: "tozero" });

  let toPaper = false;
  const draw = () => {
    const [x, y] = [choices.across.value, choices.up.value];
    const layout = { ...report.layout(toPaper), xaxis: axis(x), yaxis: axis(y) };
    const config = { ...report.config, displayModeBar: false };
    const finalists = marks.map((mark) => mark.finalist).filter((place) => place !== null);
    Plotly.react(chart, [null, ...finalists].map((finalist) => trace(finalist, x, y)), layout, config);
  };

  report.onDraw((printing) => {
    toPaper = printing;
    draw();
  });
  chart.on("plotly_click", (event) => {
    const row = document.getElementById(event.points[0].customdata);
    if (row) row.scrollIntoView({ block: "center" });
  });
})();
