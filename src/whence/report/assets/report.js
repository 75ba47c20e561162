// Goes through a trace step by step. Everything is on the page without this, too.
(() => {
  "use strict";
  document.documentElement.classList.add("js");

  class Trace {
    constructor(section) {
      this.section = section;
      this.rows = [...section.querySelectorAll("tr[data-step]")];
      this.slider = section.querySelector("input[type=range]");
      this.output = section.querySelector("output");
      this.previous = section.querySelector("[data-go='-1']");
      this.next = section.querySelector("[data-go='1']");
      this.places = new Map();
      for (const element of section.querySelectorAll("[data-location]")) {
        this.places.set("l" + element.dataset.location, element);
      }
      for (const element of section.querySelectorAll("[data-edge]")) {
        this.places.set("e" + element.dataset.edge, element);
      }
      this.steps = this.rows.map(() => []);
      for (const element of section.querySelectorAll("[data-step]")) {
        this.steps[Number(element.dataset.step)]?.push(element);
      }
      this.lit = [];
      this.selected = 0;
      for (const button of [this.previous, this.next]) {
        button.addEventListener("click", () => this.go(Number(button.dataset.go)));
      }
      this.slider.addEventListener("input", () => this.select(Number(this.slider.value)));
      section.addEventListener("click", (event) => {
        const step = this.stepOf(event);
        if (step !== null) this.select(step);
      });
      section.addEventListener("mouseover", (event) => {
        const step = this.stepOf(event);
        this.paint(step === null ? this.selected : step);
      });
      section.addEventListener("mouseleave", () => this.paint(this.selected));
      for (const kind of ["pointerdown", "focusin"]) {
        section.addEventListener(kind, () => { active = this; });
      }
      this.select(0);
    }

    stepOf(event) {
      if (event.target.closest("summary, a")) return null;
      const element = event.target.closest("[data-step]");
      return element === null ? null : Number(element.dataset.step);
    }

    go(by) {
      this.select(Math.min(Math.max(this.selected + by, 0), this.rows.length - 1));
    }

    select(step) {
      this.selected = step;
      this.slider.value = String(step);
      this.previous.disabled = step === 0;
      this.next.disabled = step === this.rows.length - 1;
      this.paint(step);
      for (const element of this.steps[step]) {
        const frame = element.closest(".scroll");
        if (frame === null) continue;
        reveal(frame, element);
        const action = element.querySelector(".dot");
        if (action !== null) aside(frame, action);
      }
      // The receivers first, so that the sender is in view in any case.
      for (const name of this.rows[step].dataset.edges.split(" ").reverse()) {
        const figure = this.places.get("e" + name)?.closest("figure");
        if (figure) reveal(figure.parentElement, figure);
      }
    }

    paint(step) {
      for (const element of this.lit) element.classList.remove("now");
      const row = this.rows[step];
      const places = (prefix, names) =>
        names.split(" ").map((name) => this.places.get(prefix + name));
      this.lit = [
        ...this.steps[step],
        ...places("l", row.dataset.locations),
        ...places("e", row.dataset.edges),
      ].filter((element) => element !== undefined);
      for (const element of this.lit) element.classList.add("now");
      this.output.textContent = row.dataset.label;
    }
  }

  // Scrolls the frame only, so that the page stays where the reader has put it.
  function reveal(frame, element) {
    const inner = element.getBoundingClientRect();
    const outer = frame.getBoundingClientRect();
    const covered = frame.querySelector(".pinned")?.getBoundingClientRect().height ?? 0;
    if (inner.top < outer.top + covered) frame.scrollTop -= outer.top + covered - inner.top;
    else if (inner.bottom > outer.bottom) frame.scrollTop += inner.bottom - outer.bottom;
  }

  function aside(frame, element) {
    const inner = element.getBoundingClientRect();
    const outer = frame.getBoundingClientRect();
    const margin = 60;
    if (inner.left < outer.left + margin) frame.scrollLeft -= outer.left + margin - inner.left;
    else if (inner.right > outer.right - margin) {
      frame.scrollLeft += inner.right - outer.right + margin;
    }
  }

  let active = null;
  const traces = [...document.querySelectorAll("section.trace")].map((s) => new Trace(s));
  active = traces[0] ?? null;

  document.addEventListener("keydown", (event) => {
    const plain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
    if (active === null || !plain || event.target.closest("input, textarea, select")) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    active.go(by);
    event.preventDefault();
  });

  // Paper has no way to open them.
  window.addEventListener("beforeprint", () => {
    for (const element of document.querySelectorAll("details")) element.open = true;
  });
})();
