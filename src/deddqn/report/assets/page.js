"use strict";
(() => {
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));

  // sorting: numbers by value, words by name, empty cells last
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return null;
    const given = cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent.trim();
    if (given === "") return null;
    const value = Number(given);
    return Number.isNaN(value) ? given : value;
  };
  const order = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  };
  const sort = (table, column, descending) => {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows).map((row, position) => ({ row, position, key: keyOf(row, column) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.position - b.position;
      return (descending ? -order(a.key, b.key) : order(a.key, b.key)) || a.position - b.position;
    });
    rows.forEach((entry) => body.appendChild(entry.row));
    all("thead th", table).forEach((head, k) => {
      if (k === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  };
  all(".table table").forEach((table) => {
    all("thead th", table).forEach((head, column) => {
      const button = head.querySelector("button");
      if (button) button.addEventListener("click", () => sort(table, column, head.getAttribute("aria-sort") === "ascending"));
    });
  });

  // filtering: every word must occur in the row
  const filter = (box, words) => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    const rows = all("tbody tr", box);
    rows.forEach((row) => {
      const text = Array.from(row.cells).map((cell) => cell.textContent.toLowerCase()).join(" ");
      row.hidden = !wanted.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    });
    const count = box.querySelector(".count");
    if (count) count.textContent = wanted.length ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
  };
  all(".table").forEach((box) => {
    const input = box.querySelector("input[type=search]");
    if (input) input.addEventListener("input", () => filter(box, input.value));
  });

  // methods in figures: shown, hidden, lifted out
  const hidden = new Set();
  const show = () => {
    all("svg .s").forEach((series) => series.classList.toggle("off", hidden.has(series.dataset.m)));
    all(".legend [aria-pressed]").forEach((chip) => chip.setAttribute("aria-pressed", String(!hidden.has(chip.dataset.toggle))));
  };
  const names = [...new Set(all(".legend [aria-pressed]").map((chip) => chip.dataset.toggle))];
  all(".legend button").forEach((chip) => {
    chip.addEventListener("click", () => {
      const name = chip.dataset.toggle;
      if (name === "*") hidden.clear();
      else if (name === "") names.forEach((each) => hidden.add(each));
      else if (!hidden.delete(name)) hidden.add(name);
      show();
    });
  });
  all("figure svg").forEach((svg) => {
    const lift = (event) => {
      const series = event.target.closest(".s");
      all(".s.hot", svg).forEach((other) => other.classList.remove("hot"));
      svg.classList.toggle("picked", Boolean(series));
      if (series) series.classList.add("hot");
    };
    svg.addEventListener("pointerover", lift);
    svg.addEventListener("pointerleave", lift);
  });

  // a link to a view: page.html#cells?sort=-3&filter=F9&hide=de1,de2 (columns from 0, minus for descending)
  const view = () => {
    const [id, query] = decodeURIComponent(location.hash.slice(1)).split("?");
    if (!query) return;
    const wishes = new URLSearchParams(query);
    const box = document.getElementById(id);
    if (wishes.has("hide")) wishes.get("hide").split(",").forEach((name) => hidden.add(name));
    show();
    if (!box) return;
    const table = box.querySelector("table");
    const by = wishes.get("sort");
    if (by && table) sort(table, Math.abs(Number(by.replace("-", ""))), by.startsWith("-"));
    const input = box.querySelector("input[type=search]");
    if (wishes.has("filter") && input) {
      input.value = wishes.get("filter");
      filter(box, input.value);
    }
    box.scrollIntoView();
  };
  window.addEventListener("hashchange", view);
  view();
  document.documentElement.dataset.ready = "yes";
})();
