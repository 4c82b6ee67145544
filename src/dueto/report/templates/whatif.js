/* What if? The controls of `whatif.html` and the model behind them, from the data that the page holds.

   A setting is one number a control: which of its values is taken. The model's questions about numbers were answered
   for each value when the page was made, so that nothing is compared here but places in a list and sums of float64. */
(function () {
"use strict";

const data = JSON.parse(document.getElementById("what-if-data").textContent);
const own = data.controls.map((control) => control.own);
const sizes = data.controls.map((control) => control.texts.length);

/* -- reading ------------------------------------------------------------------------------------------------------ */

function floats(text) {
  const single = text.startsWith("f ");
  const found = words(single ? text.slice(2) : text).map(Number);
  return single ? found.map(Math.fround) : found;
}

function words(text) { return text === "" ? [] : text.split(" "); }

const known = new Map(data.known.map((row) => [row.at, row.score]));
const proposals = data.proposals.map((text) => words(text).map(Number));

/* -- the model: from a setting to its margin ---------------------------------------------------------------------- */

const forms = {
  trees(form) {
    const nodes = Int32Array.from(words(form.nodes), Number), roots = words(form.roots).map(Number);
    const values = floats(form.values);
    const questions = form.questions === "" ? [] : form.questions.split(";").map((text) => {
      const [control, ...turns] = words(text).map(Number);
      const left = new Uint8Array(sizes[control]);
      turns.push(left.length);
      for (let k = 0, turn = 0; k < left.length; k++) {
        while (turn < turns.length && turns[turn] <= k) turn++;
        left[k] = turn % 2 === 0 ? 1 : 0;
      }
      return { control, left };
    });
    return function (at) {
      let sum = form.base;
      for (const root of roots) {
        let node = root;
        while (nodes[node] >= 0) {
          const question = questions[nodes[node]];
          node += question.left[at[question.control]] ? 2 : nodes[node + 1];
        }
        sum += values[-1 - nodes[node]];
      }
      return sum;
    };
  },

  sum(form) {
    const terms = form.terms.map(floats);
    return (at) => terms.reduce((sum, term, u) => sum + term[at[u]], form.base);
  },

  network(form) {
    const bias = floats(form.biases), width = bias.length;
    const inputs = form.inputs.map((input) => input && {
      adds: input.adds === undefined ? null : floats(input.adds),
      columns: input.columns === undefined ? null : floats(input.columns),
      weights: input.weights === undefined ? null : floats(input.weights),
    });
    const layers = form.layers.map((layer) => ({ weights: floats(layer.weights), biases: floats(layer.biases) }));
    return function (at) {
      let values = bias.slice();
      inputs.forEach((input, u) => {
        if (!input) return;
        if (input.adds) {
          for (let i = 0; i < width; i++) values[i] += input.adds[at[u] * width + i];
          return;
        }
        const columns = input.weights.length / width;
        for (let c = 0; c < columns; c++) {
          const z = input.columns[at[u] * columns + c];
          if (z !== 0) for (let i = 0; i < width; i++) values[i] += z * input.weights[c * width + i];
        }
      });
      for (const layer of layers) {
        const bent = values.map((value) => Math.max(value, 0));
        values = layer.biases.map((b, o) =>
          bent.reduce((sum, value, i) => sum + value * layer.weights[o * bent.length + i], b));
      }
      return values[0];
    };
  },
};

const links = {
  logistic: (scale) => (margin) => 1 / (1 + Math.exp(-Math.min(Math.max(scale * margin, -700), 700))),
  share: (n) => (margin) => margin / n,
  clipped: () => (margin) => (Math.min(Math.max(margin, -1), 1) + 1) / 2,
};

/* -- the decision: good is true, false, or null where it cannot be told; told is false where it was not worked out --- */

const evaluate = data.model.kind === "grid" ? fromGrid(data.model) : fromForm(data.model);

function fromForm(form) {
  const margin = forms[form.kind](form);
  const link = form.link && links[form.link[0]](form.link[1]);
  return function (at) {
    if (known.has(at.join(" "))) return scored(known.get(at.join(" ")));
    const value = margin(at), score = link ? Math.min(Math.max(link(value), 0), 1) : null;
    if (form.exact) return scored(score);
    const good = Math.abs(value - form.cut) > form.slack ? value > form.cut : null;
    return { told: true, good, score };
  };
}

function fromGrid(form) {
  const singles = form.singles.map(floats);
  const pairs = new Map(form.pairs.map((pair) => [pair.of.join(" "), floats(pair.scores)]));
  return function (at) {
    if (known.has(at.join(" "))) return scored(known.get(at.join(" ")));
    const moved = changedIn(at);
    if (moved.length === 1) return scored(singles[moved[0]][at[moved[0]]]);
    const [u, w] = moved;
    if (moved.length === 2 && pairs.has(`${u} ${w}`)) return scored(pairs.get(`${u} ${w}`)[at[u] * sizes[w] + at[w]]);
    if (moved.length === 2 && pairs.has(`${w} ${u}`)) return scored(pairs.get(`${w} ${u}`)[at[w] * sizes[u] + at[u]]);
    return { told: false, good: null, score: null };
  };
}

function scored(score) { return { told: true, good: score > data.threshold, score }; }

function changedIn(at) { return at.map((k, u) => u).filter((u) => at[u] !== own[u]); }

/* Whether every value of a control is answered for, as the others stand. */
function movable(at, u) {
  if (data.model.kind !== "grid") return true;
  const others = changedIn(at).filter((w) => w !== u);
  return others.length === 0 || (others.length === 1 &&
    data.model.pairs.some((pair) => pair.of.includes(u) && pair.of.includes(others[0])));
}

/* -- the constraints, by the rules of the language: missing equals missing, and is neither below nor above anything - */

const numbers = new Map();
data.controls.forEach((control, u) => {
  for (const [feature, text] of Object.entries(control.numbers)) numbers.set(Number(feature), [u, floats(text)]);
});

const both = (a, b) => Number.isNaN(a) && Number.isNaN(b);
const tests = {
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b || both(a, b),
  ">=": (a, b) => a >= b || both(a, b),
  "==": (a, b) => a === b || both(a, b),
  "!=": (a, b) => !(a === b || both(a, b)),
};
const arithmetic = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => (b === 0 ? NaN : a / b),
};

function value(term, at) {
  const [kind, a, b] = term;
  if (kind === "number") return a === null ? NaN : a;
  if (kind === "feature") return numbers.get(a)[1][at[numbers.get(a)[0]]];
  if (kind === "minus") return -value(a, at);
  if (kind === "recoded") { const code = value(a, at); return Number.isNaN(code) ? NaN : b[code]; }
  return arithmetic[kind](value(a, at), value(b, at));
}

function holds(test, at) {
  const [kind, ...parts] = test;
  if (kind === "and") return parts.every((part) => holds(part, at));
  if (kind === "or") return parts.some((part) => holds(part, at));
  if (kind === "not") return !holds(parts[0], at);
  if (kind === "missing") return Number.isNaN(value(parts[0], at));
  if (kind === "in") {
    const given = value(parts[0], at);
    return parts[1].includes(given) || (parts[2] && Number.isNaN(given));
  }
  return tests[kind](value(parts[0], at), value(parts[1], at));
}

const conditions = data.conditions.map(({ sentence, test, form }) => {
  if (test) return { sentence, holds: (at) => holds(test, at) };
  const margin = forms[form.kind](form);
  return { sentence, holds: (at) => margin(at) > form.cut };
});

function broken(at) { return conditions.filter((each) => !each.holds(at)).map((each) => each.sentence); }

/* -- how far from now --------------------------------------------------------------------------------------------- */

const steps = data.controls.map((control) => (control.steps === undefined ? null : floats(control.steps)));

function cost(at) {
  if (!data.weights) return null;
  let [count, total, squares, most] = [0, 0, 0, 0];
  at.forEach((k, u) => {
    if (!steps[u]) return;
    const [c, t, s, m] = steps[u].slice(4 * k, 4 * k + 4);
    count += c; total += t; squares += s; most = Math.max(most, m);
  });
  const [w0, w1, w2, w3] = data.weights, n = data.features;
  return w0 * count / n + w1 * total / n + w2 * Math.sqrt(squares / n) + w3 * most;
}

/* -- words -------------------------------------------------------------------------------------------------------- */

/* A score with three digits, or as many as put it on its side of the threshold. */
function shown(score) {
  for (let digits = 3; digits < 17; digits++) {
    const text = score.toPrecision(digits);
    if ((Number(text) > data.threshold) === (score > data.threshold)) return String(Number(text));
  }
  return String(score);
}

function verdict({ told, good, score }) {
  if (!told) return ["?", "Not worked out", "This combination was not worked out when the page was made."];
  const needed = `more than ${data.threshold} is needed`;
  const said = score === null ? "" : `The score for ${data.outcome} is ${shown(score)}, and ${needed}.`;
  if (good === null) {
    return ["?", "Too close to call here",
      `The score is within rounding of ${data.threshold}, and only the model itself can tell.`];
  }
  return good ? ["✓", "Accepted", said] : ["✗", "Refused", said];
}

/* -- the page ----------------------------------------------------------------------------------------------------- */

const part = (name) => document.getElementById(`what-if-${name}`);
const inputs = data.controls.map((control, u) => part(u));
const boxes = data.controls.map((control, u) => part(`${u}-missing`));
let at = own.slice(), waiting = null;

function place(u) { return boxes[u] && boxes[u].checked ? data.controls[u].missing : Number(inputs[u].value); }

function show() {
  const found = evaluate(at), wrong = broken(at), moved = changedIn(at), price = cost(at);
  const [sign, word, said] = verdict(found);
  const forbidden = wrong.length > 0 && found.good === true;
  part("sign").textContent = forbidden ? "!" : sign;
  part("word").textContent = forbidden ? `${word}, but not allowed` : word;
  part("said").textContent = said;
  part("panel").className = `panel ${found.good === null || forbidden ? "open" : found.good ? "good" : "bad"}`;
  part("bar").hidden = found.score === null;
  if (found.score !== null) {
    part("fill").style.width = `${100 * found.score}%`;
    part("bar").setAttribute("aria-label", `Score ${shown(found.score)} on a scale from 0 to 1; ${data.threshold} is the threshold`);
  }
  list(part("broken"), wrong.map((sentence) => ["", ...sentence]));
  part("breaks").hidden = wrong.length === 0;
  list(part("changes"), moved.map((u) => {
    const { name, texts } = data.controls[u];
    return [name, ": ", texts[own[u]], " → ", texts[at[u]]];
  }));
  part("unchanged").hidden = moved.length > 0;
  part("cost").hidden = price === null || moved.length === 0;
  part("cost").textContent = price === null ? "" : `Cost of these changes: ${Number(price.toPrecision(3))}`;
  part("reset").disabled = moved.length === 0;
  inputs.forEach((input, u) => { if (input) draw(input, u); });
  clearTimeout(waiting);
  waiting = setTimeout(() => { part("heard").textContent = heard(word, said, wrong); }, 250);
}

function heard(word, said, wrong) {
  return [`${word}.`, said, ...(wrong.length ? ["Not allowed:", `${wrong.map((sentence) => sentence.join("")).join("; ")}.`] : [])].join(" ");
}

function draw(input, u) {
  const { texts, missing } = data.controls[u], able = movable(at, u), moved = at[u] !== own[u];
  const none = at[u] === missing; // then the slider keeps the number to come back to
  if (boxes[u]) { boxes[u].checked = none; boxes[u].disabled = !able; }
  if (!none) input.value = String(at[u]);
  input.disabled = !able || none;
  if (input.type === "range") {
    input.setAttribute("aria-valuetext", texts[at[u]] + (moved ? `, now ${texts[own[u]]}` : ", as now"));
    part(`${u}-text`).textContent = texts[at[u]];
  }
  const before = moved ? `now ${texts[own[u]]}` : input.type === "range" ? "as now" : "";
  part(`${u}-now`).textContent = before && `(${before})`;
  part(`${u}-able`).hidden = able;
  input.closest(".control").classList.toggle("moved", moved);
}

/* Lines of a list, each of parts: every other one is the user's own, and has a direction of its own. */
function list(element, lines) {
  element.replaceChildren(...lines.map((line) => {
    const item = document.createElement("li");
    item.append(...line.map((text, i) => {
      if (i % 2) return text;
      const isolated = document.createElement("bdi");
      isolated.textContent = text;
      return isolated;
    }));
    return item;
  }));
}

function go(setting) { at = setting.slice(); show(); }

[inputs, boxes].forEach((elements) => elements.forEach((element, u) => {
  if (element) element.addEventListener("input", () => { at[u] = place(u); show(); });
}));
part("reset").addEventListener("click", () => { go(own); part("result").focus(); });
proposals.forEach((setting, i) => part(`try-${i}`).addEventListener("click", () => go(setting)));
part("form").addEventListener("submit", (event) => event.preventDefault());
show();
part("live").hidden = false;
part("off").hidden = true;

window.dueto = Object.assign(window.dueto || {}, { evaluate, broken, holds, cost, go, at: () => at.slice() });
})();
