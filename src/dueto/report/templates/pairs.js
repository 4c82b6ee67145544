"use strict";
// A button in each heading sorts the table by its column; numbers that are missing come last either way.
{
  const table = document.getElementById("pairs");
  const value = (row, at) => {
    const text = row.cells[at].dataset.value;
    return text === "" ? NaN : Number(text);
  };
  table.querySelectorAll("th[data-sort]").forEach((heading) => {
    const at = heading.cellIndex;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
      const body = table.tBodies[0];
      const rows = Array.from(body.rows, (row) => [value(row, at), row]);
      rows.sort(([a], [b]) => isNaN(a) - isNaN(b) || sign * (a - b) || 0);
      body.append(...rows.map(([, row]) => row));
    });
  });
  table.querySelector("th[data-sort]").setAttribute("aria-sort", "ascending");
}
