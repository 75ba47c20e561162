// Sorts and filters classes, and goes through lists that are too long for the page. What stands in
// the data is text: it gets onto the page as text and in links to files, never as markup.
(() => {
  "use strict";
  const source = document.getElementById("lists");
  if (source === null) return;
  const data = JSON.parse(source.textContent);

  const make = (name, text, values = {}) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(values)) element.setAttribute(key, value);
    return element;
  };

  // ------------------------------------------------------------------------- sorting, filtering

  const numbers = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const wordsIn = (input) => input.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const count = (number) => number.toLocaleString("en");

  class Classes {
    constructor(table) {
      this.body = table.tBodies[0];
      this.heads = [...table.tHead.rows[0].cells];
      // So many rows are shown at first: more of them take long to lay out.
      this.most = 200;
      this.all = [...this.body.rows].map((row) => {
        const section = document.getElementById("class-" + row.dataset.class);
        const cells = [...row.cells];
        return { row, section, keys: cells.map((c) => c.dataset.v ?? c.textContent) };
      });
      for (const [column, head] of this.heads.entries()) {
        const button = make("button", head.textContent, { type: "button" });
        head.replaceChildren(button);
        button.addEventListener("click", () => this.sort(column, head));
      }
      const form = document.querySelector("form.filter");
      this.input = form.querySelector("input");
      this.output = form.querySelector("output");
      this.more = make("button", "show all", { type: "button" });
      form.append(this.more);
      form.addEventListener("submit", (event) => event.preventDefault());
      this.input.addEventListener("input", () => this.show());
      this.more.addEventListener("click", () => {
        this.most = Infinity;
        this.show();
        this.input.focus();
      });
      window.addEventListener("beforeprint", () => {
        this.most = Infinity;
        this.show();
      });
      this.show();
    }

    sort(column, head) {
      const before = head.getAttribute("aria-sort");
      // Of numbers, the largest ones come first; but ranks count from the top.
      const first = head.classList.contains("n") && column > 0 ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const now = before === first ? other : first;
      for (const each of this.heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", now);
      const sign = now === "ascending" ? 1 : -1;
      this.all.sort((a, b) => sign * numbers.compare(a.keys[column], b.keys[column])
        || numbers.compare(a.keys[0], b.keys[0]));
      this.body.append(...this.all.map((each) => each.row));
      this.show();
    }

    show() {
      const wanted = wordsIn(this.input);
      let fitting = 0;
      for (const each of this.all) {
        const fits = wanted.length === 0 || this.fits(each, wanted);
        if (fits) fitting += 1;
        each.row.hidden = !fits || fitting > this.most;
        each.section.hidden = !fits;
      }
      const total = count(this.all.length);
      const of = wanted.length === 0 ? "" : `${count(fitting)} of `;
      const said = `${of}${total} classes`;
      this.more.hidden = fitting <= this.most;
      this.output.textContent = this.more.hidden ? said : `${said}, ${this.most} of them shown`;
    }

    fits(each, wanted) {
      // Made when somebody asks for it.
      each.text ??= [each.row, ...each.section.querySelectorAll("p, li, .case text")]
        .map((element) => element.textContent).join(" ").toLowerCase() + each.row.dataset.class;
      return wanted.every((word) => each.text.includes(word));
    }
  }

  const table = document.querySelector("table.classes");
  if (table !== null) new Classes(table);

  // ------------------------------------------------------------------------------------- lists

  const faults = data.faults;
  const fileOf = (number) => {
    const entry = data.files[number];
    if (typeof entry !== "string") return { shown: entry[0], href: entry[1] };
    const href = data.root + entry.split("/").map(encodeURIComponent).join("/");
    return { shown: entry, href };
  };

  function link(file, line) {
    const { shown, href } = fileOf(file);
    const anchor = make("a", undefined, { href });
    anchor.append(make("code", line ? `${shown}:${line}` : shown));
    return anchor;
  }

  function date(place) {
    const value = faults.date[place];
    if (typeof value === "string") return value;
    return new Date(data.base + value).toISOString().slice(0, 23).replace("T", " ");
  }

  const textOf = (number) => (number < 0 ? "" : data.texts[number]);

  function memberCells(place) {
    const [file, conversation, several] = data.traces[faults.trace[place]];
    const where = [link(file, faults.line[place])];
    if (conversation >= 0) where.push(make("div", textOf(conversation), { class: "quiet" }));
    const index = faults.index[place];
    const which = `${faults.number[place]} of ${several}`;
    const event = [make("code", textOf(faults.event[place]) || "the end of the trace")];
    if (faults.after[place]) event.push(" " + faults.after[place]);
    const cells = [
      where,
      [make("span", date(place), { class: "date" })],
      [index < 0 ? which : `${which}, event ${index}`],
      event,
    ];
    if (data.marked) {
      const mark = faults.mark[place];
      cells.push(
        mark < 0 ? [make("span", "not marked", { class: "quiet" })] : [textOf(mark)]);
    }
    return cells;
  }

  const cellsOf = (entry) => typeof entry === "number"
    ? memberCells(entry)
    : entry.map((cell) => Array.isArray(cell) ? [link(...cell)] : [make("code", textOf(cell))]);

  function wordsOf(entry) {
    if (typeof entry === "number") {
      const [file, conversation] = data.traces[faults.trace[entry]];
      return [
        `${fileOf(file).shown}:${faults.line[entry]}`, textOf(conversation), date(entry),
        textOf(faults.event[entry]), textOf(faults.mark[entry]) || "not marked",
      ].join(" ").toLowerCase();
    }
    return entry.map((cell) =>
      Array.isArray(cell) ? `${fileOf(cell[0]).shown}:${cell[1]}` : textOf(cell)
    ).join(" ").toLowerCase();
  }

  class List {
    constructor(element) {
      this.all = data.lists[element.dataset.list];
      this.shown = this.all;
      this.page = 0;
      this.noun = element.dataset.noun;
      this.body = element.querySelector("tbody");
      element.querySelector(".more").remove();
      const bar = make("div", undefined, { class: "pager" });
      this.previous = make("button", "◀", { type: "button", "aria-label": "previous page" });
      this.next = make("button", "▶", { type: "button", "aria-label": "next page" });
      this.output = make("output");
      this.input = make("input", undefined, {
        type: "search", autocomplete: "off", spellcheck: "false", placeholder: "filter",
        "aria-label": `filter ${this.noun}`,
      });
      this.previous.addEventListener("click", () => this.go(-1));
      this.next.addEventListener("click", () => this.go(1));
      this.input.addEventListener("input", () => this.filter());
      bar.append(this.previous, this.output, this.next, this.input);
      element.append(bar);
      this.tell();
    }

    get pages() { return Math.max(1, Math.ceil(this.shown.length / data.page)); }

    go(by) {
      this.page = Math.min(Math.max(this.page + by, 0), this.pages - 1);
      this.show();
    }

    filter() {
      const wanted = wordsIn(this.input);
      // Made when they are first asked for: nobody filters most lists.
      this.words ??= this.all.map(wordsOf);
      this.shown = wanted.length === 0 ? this.all
        : this.all.filter((_, n) => wanted.every((word) => this.words[n].includes(word)));
      this.page = 0;
      this.show();
    }

    show() {
      const first = this.page * data.page;
      const rows = this.shown.slice(first, first + data.page).map((entry) => {
        const row = make("tr");
        for (const cell of cellsOf(entry)) {
          const at = make("td");
          at.append(...cell);
          row.append(at);
        }
        return row;
      });
      this.body.replaceChildren(...rows);
      this.tell();
    }

    tell() {
      const total = this.shown.length;
      const first = this.page * data.page;
      const last = Math.min(first + data.page, total);
      this.output.textContent = total === 0
        ? `none of ${count(this.all.length)} ${this.noun}`
        : `${count(first + 1)} – ${count(last)} of ${count(total)} ${this.noun}`;
      // Not `disabled`, which would take the focus away from who goes with the keyboard.
      this.previous.ariaDisabled = String(this.page === 0);
      this.next.ariaDisabled = String(this.page === this.pages - 1);
    }
  }

  for (const element of document.querySelectorAll("[data-list]")) new List(element);
})();
