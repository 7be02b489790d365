"use strict";
(() => {
  // The rows of tables follow the filter of the findings.
  const filter = document.getElementById("filter");
  const rows = [...document.querySelectorAll("[data-row]")].map((row) => ({
    row,
    text: row.textContent.toLowerCase(),
  }));
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { row, text } of rows) {
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
})();
