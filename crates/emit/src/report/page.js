"use strict";
(() => {
  const filter = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const tables = [...document.querySelectorAll(".table")].map((table) => ({
    table,
    // A match in the specification of a table shows the table with all its tests.
    text: [...table.children]
      .filter((part) => !part.classList.contains("tests"))
      .map((part) => part.textContent)
      .join(" ")
      .toLowerCase(),
    tests: [...table.querySelectorAll(".test")].map((test) => ({
      test,
      text: `${table.querySelector("h3").textContent} ${test.textContent}`.toLowerCase(),
    })),
  }));

  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (text) => words.every((word) => text.includes(word));
    let n = 0;
    for (const { table, text, tests } of tables) {
      const whole = matches(text);
      let any = whole;
      for (const { test, text } of tests) {
        const show = whole || matches(text);
        test.hidden = !show;
        any ||= show;
        n += show;
      }
      table.hidden = !any;
      if (words.length > 0 && any && !whole) table.open = true;
    }
    shown.value = `${n} ${n === 1 ? shown.dataset.one : shown.dataset.many}`;
  };

  let waiting = 0;
  filter.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 80);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== filter) {
      event.preventDefault();
      filter.focus();
    }
  });

  const openAll = (open) => {
    for (const { table } of tables) if (!table.hidden) table.open = open;
  };
  document.getElementById("expand").addEventListener("click", () => openAll(true));
  document.getElementById("collapse").addEventListener("click", () => openAll(false));

  // A link to something inside a closed part opens the part first.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.closest("[hidden]")) {
      filter.value = "";
      apply();
    }
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView({ block: "start" });
  };
  // Parts with a filter of their own: words, and a choice of kinds.
  for (const sieve of document.querySelectorAll(".sieve")) {
    const [words, kind, left] = ["input", "select", "output"].map((name) => sieve.querySelector(name));
    const rows = [...sieve.querySelectorAll("tbody tr")].map((row) => ({ row, text: row.textContent.toLowerCase() }));
    const sift = () => {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let n = 0;
      for (const { row, text } of rows) {
        const show = (!kind.value || row.dataset.kind === kind.value) && wanted.every((word) => text.includes(word));
        row.hidden = !show;
        n += show;
      }
      left.value = `${n} ${n === 1 ? left.dataset.one : left.dataset.many}`;
    };
    words.addEventListener("input", sift);
    kind.addEventListener("change", sift);
  }

  addEventListener("hashchange", reveal);
  reveal();

  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".copy");
    if (!button) return;
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // A page opened from a file may have no clipboard; the old way still works.
      const range = document.createRange();
      range.selectNodeContents(code);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      document.execCommand("copy");
      selection.removeAllRanges();
    }
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1200);
  });
})();
