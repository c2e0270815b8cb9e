"use strict";
// Drawings of networks, and how busy their channels are: on the drawing, and as a matrix of routers.
(() => {
  const { data, color } = report;
  const types = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };
  const unpack = ({ type, bytes }) => new types[type](Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0)).buffer);
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const MARGIN = 0.04;

  const networks = data.drawings.map((drawing) =>
    drawing.why
      ? drawing
      : {
          ...drawing,
          places: unpack(drawing.places),
          strokes: drawing.strokes.map((s) => ({ ...s, lines: unpack(s.lines), ends: unpack(s.ends) })),
        },
  );

  // A canvas as wide as its place on the page, as sharp as the screen, or as paper asks.
  const paper = (canvas, printing, aspect) => {
    const width = printing ? 640 : canvas.parentElement.clientWidth;
    const height = Math.round(width * aspect);
    const density = printing ? 3 : Math.max(devicePixelRatio || 1, 1);
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    const pen = canvas.getContext("2d");
    pen.scale(density, density);
    pen.lineCap = "round";
    return { pen, width, height, density };
  };

  const tell = (canvas) => canvas.setAttribute("data-drawn", "");

  // Draws a network; `heat` gives the colour of a link by its ends, and is left out where classes of links have theirs.
  const drawNetwork = (canvas, network, printing, heat) => {
    const [across, down] = network.size;
    const aspect = clamp(down / Math.max(across, 1), 0.3, 1) * (1 - MARGIN) + MARGIN;
    const { pen, width, height } = paper(canvas, printing, aspect);
    const room = MARGIN * width;
    const hanging = Math.max(0, ...network.labels.filter((l) => l[3] === "right").map((l) => 6 * l[2].length));
    const scale = Math.min((width - 2 * room - hanging) / Math.max(across, 1), (height - 2 * room) / Math.max(down, 1));
    const left = (width + hanging - across * scale) / 2;
    const top = (height - down * scale) / 2;
    const x = (value) => left + value * scale;
    const y = (value) => top + value * scale;

    for (const outline of network.outlines) {
      pen.beginPath();
      for (let i = 0; i < outline.length; i += 2) pen.lineTo(x(outline[i]), y(outline[i + 1]));
      pen.closePath();
      pen.fillStyle = color("--raised");
      pen.fill();
      pen.lineWidth = 0.8;
      pen.strokeStyle = color("--line");
      pen.stroke();
    }

    const trace = (stroke, i) => {
      const step = 2 * stroke.points;
      const p = stroke.lines.subarray(i * step, (i + 1) * step);
      pen.moveTo(x(p[0]), y(p[1]));
      if (stroke.bent) {
        // The control point of the parabola through both ends and the middle.
        pen.quadraticCurveTo(x(2 * p[2] - (p[0] + p[4]) / 2), y(2 * p[3] - (p[1] + p[5]) / 2), x(p[4]), y(p[5]));
      } else {
        for (let k = 2; k < step; k += 2) pen.lineTo(x(p[k]), y(p[k + 1]));
      }
    };

    const count = network.strokes.reduce((sum, stroke) => sum + stroke.count, 0);
    pen.lineWidth = clamp(36 / Math.sqrt(Math.max(count, 1)), 0.6, heat ? 3.2 : 1.8);
    if (heat) {
      const lines = network.strokes.flatMap((stroke) =>
        Array.from({ length: stroke.count }, (_, i) => ({ stroke, i, ...heat(stroke.ends[2 * i], stroke.ends[2 * i + 1]) })),
      );
      lines.sort((a, b) => a.level - b.level);
      for (const line of lines) {
        pen.beginPath();
        trace(line.stroke, line.i);
        pen.strokeStyle = line.colour;
        pen.stroke();
      }
    } else {
      // The more ink all lines would be on their paper, the paler they are.
      let length = 0;
      for (const { lines, points, count: of } of network.strokes)
        for (let i = 0; i < of; i++) {
          const [a, b] = [2 * points * i, 2 * points * (i + 1) - 2];
          length += Math.hypot(lines[b] - lines[a], lines[b + 1] - lines[a + 1]);
        }
      const ink = (length * scale * pen.lineWidth) / (width * height);
      pen.globalAlpha = clamp(0.4 / Math.max(ink, 1e-9), 0.1, 0.9);
      for (const stroke of network.strokes) {
        pen.strokeStyle = color(`--n${stroke.colour % 8}`);
        pen.setLineDash(stroke.dashed && count < 2000 ? [5, 3] : []);
        for (let i = 0; i < stroke.count; i++) {
          pen.beginPath();
          trace(stroke, i);
          pen.stroke();
        }
      }
      pen.globalAlpha = 1;
      pen.setLineDash([]);
    }

    const radius = clamp(0.16 * network.spacing * scale, 1, 5);
    pen.fillStyle = color("--ink");
    for (let i = 0; i < network.places.length; i += 2) {
      pen.beginPath();
      pen.arc(x(network.places[i]), y(network.places[i + 1]), radius, 0, 2 * Math.PI);
      pen.fill();
    }
    pen.fillStyle = color("--soft");
    pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    pen.textBaseline = "middle";
    for (const [across, down, text, align] of network.labels) {
      pen.textAlign = align;
      pen.fillText(text, x(across), y(down));
    }
    tell(canvas);
  };

  const canvases = [...document.querySelectorAll("canvas.network")];
  report.onDraw((printing) => {
    for (const canvas of canvases) drawNetwork(canvas, networks[canvas.dataset.network], printing);
  });
  let before = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === before) return;
    before = innerWidth;
    report.redraw();
  });

  // Heat maps

  const heat = data.heat;
  if (!heat.curves.length) return;
  const section = document.getElementById("links");
  const ends = heat.networks.map((network) => unpack(network.ends));
  const selects = Object.fromEntries(["network", "traffic", "routing"].map((n) => [n, section.querySelector(`[name=${n}]`)]));
  const [drawn, matrix] = [section.querySelector("canvas.links"), section.querySelector("canvas.matrix")];
  const readout = section.querySelector("output");
  const named = { network: (c) => heat.networks[c.network].spec, traffic: (c) => c.traffic, routing: (c) => c.routing + (c.role === c.routing || c.role.match(/^(minimal|adaptive)$/) ? "" : ` (${c.role})`) };
  let shown = null;

  // Seven colours from --heat0 on, with lightness that only goes one way; `level` is 0 to 255.
  const scale = () => {
    const stops = Array.from({ length: 6 }, (_, i) => color(`--heat${i}`).match(/[0-9a-f]{2}/gi).map((h) => parseInt(h, 16)));
    return Array.from({ length: 256 }, (_, level) => {
      const place = (level / 255) * (stops.length - 1);
      const i = Math.min(Math.floor(place), stops.length - 2);
      return `rgb(${stops[i].map((c, k) => Math.round(c + (stops[i + 1][k] - c) * (place - i))).join(",")})`;
    });
  };

  // The busiest of the parallel channels from one router to another.
  const byEnds = (curve) => {
    const of = ends[curve.network];
    const flits = unpack(curve.flits);
    const found = new Map();
    const { routers } = heat.networks[curve.network];
    for (let channel = 0; channel < flits.length; channel++) {
      const link = channel >> 1;
      const [from, to] = channel % 2 ? [of[2 * link + 1], of[2 * link]] : [of[2 * link], of[2 * link + 1]];
      const key = from * routers + to;
      found.set(key, Math.max(found.get(key) ?? 0, flits[channel]));
    }
    return found;
  };

  const drawMatrix = (curve, levels, colours, printing) => {
    const { routers } = heat.networks[curve.network];
    const { pen, width, height, density } = paper(matrix, printing, 1);
    const edge = 34;
    const side = Math.min(width, height) - edge - 2;
    pen.fillStyle = color("--raised");
    pen.fillRect(edge, 2, side, side);
    const cell = side / routers;
    const least = Math.max(cell, 1 / density);
    for (const [key, level] of [...levels].sort((a, b) => a[1] - b[1])) {
      pen.fillStyle = colours[level];
      pen.fillRect(edge + (key % routers) * cell, 2 + Math.floor(key / routers) * cell, least, least);
    }
    pen.fillStyle = color("--soft");
    pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    const last = routers - 1;
    pen.textAlign = "right";
    pen.textBaseline = "top";
    pen.fillText("0", edge - 5, 2);
    pen.textBaseline = "bottom";
    pen.fillText(String(last), edge - 5, 2 + side);
    pen.textBaseline = "top";
    pen.fillText(String(last), edge + side, side + 8);
    pen.textAlign = "left";
    pen.fillText("0", edge, side + 8);
    pen.textAlign = "center";
    pen.fillText("to router", edge + side / 2, side + 8);
    pen.save();
    pen.translate(edge - 20, side / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText("from router", 0, 0);
    pen.restore();
    shown = { routers, levels, edge, side };
    tell(matrix);
  };

  matrix.addEventListener("pointermove", (event) => {
    const [to, from] = [event.offsetX - shown.edge, event.offsetY - 2].map((v) => Math.floor((v / shown.side) * shown.routers));
    const level = shown.levels.get(from * shown.routers + to);
    const inside = to >= 0 && to < shown.routers;
    readout.textContent = inside && level !== undefined ? `router ${from} to ${to}: ${(level / 255).toFixed(2)} flits/cycle` : "";
  });

  const fill = (name, curves) => {
    const select = selects[name];
    const old = select.value;
    const options = [...new Set(curves.map(named[name]))];
    select.replaceChildren(...options.map((text) => new Option(text, text)));
    if (options.includes(old)) select.value = old;
    return curves.filter((curve) => named[name](curve) === select.value);
  };

  const tables = (curve) => {
    const rows = curve.busiest.map(([from, port, to, kind, flits]) => {
      const row = document.createElement("tr");
      for (const value of [from, port, to, kind, flits.toFixed(3)]) row.insertCell().textContent = value;
      return row;
    });
    section.querySelector("tbody").replaceChildren(...rows);
    section.querySelector(".load").textContent =
      `${named.network(curve)}, ${curve.routing}, ${curve.traffic}: at load ${curve.load}, the highest simulated below ` +
      `saturation, a channel carries ${curve.mean.toFixed(3)} flits per cycle in the mean.`;
  };

  const drawHeat = (printing) => {
    const curve = fill("routing", fill("traffic", fill("network", heat.curves)))[0];
    const levels = byEnds(curve);
    const colours = scale();
    const { routers } = heat.networks[curve.network];
    const network = networks[curve.network];
    section.querySelector(".drawn").hidden = network.why;
    if (!(network.why))
      drawNetwork(drawn, network, printing, (a, b) => {
        const level = Math.max(levels.get(a * routers + b) ?? 0, levels.get(b * routers + a) ?? 0);
        return { level, colour: colours[level] };
      });
    drawMatrix(curve, levels, colours, printing);
    tables(curve);
  };
  for (const select of Object.values(selects)) select.addEventListener("change", () => drawHeat(false));
  report.onDraw(drawHeat);
})();
