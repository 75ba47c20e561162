// Folds the gates of fault trees, and shows where else events are. All is in view without this.
(() => {
  "use strict";

  class FaultTree {
    constructor(svg) {
      this.svg = svg;
      this.step = Number(svg.dataset.row);
      this.start = Number(svg.dataset.cause);
      this.margin = Number(svg.dataset.margin);
      this.starts = new Set(svg.dataset.starts.split(" ").map(Number));
      this.nodes = [...svg.querySelectorAll("[data-node]")].map((element) => ({
        element,
        ident: element.dataset.node,
        row: Number(element.dataset.row),
        under: words(element.dataset.under),
        gate: element.classList.contains("gate"),
        shown: true,
      }));
      this.buses = [...svg.querySelectorAll(".bus")].map((element) => ({
        element,
        from: Number(element.dataset.from),
        to: Number(element.dataset.to),
        under: words(element.dataset.under),
      }));
      this.rows = Math.max(...this.nodes.map((node) => node.row)) + 1;
      const [x, y, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
      this.view = { x, y, width, height };
      this.scale = Number(svg.getAttribute("height")) / height;
      this.rest = y + height - this.heights(() => true)[this.rows - 1];
      this.folded = new Set();
      this.pinned = null;
      this.announce();
      this.listen();
      this.paint(null);
    }

    // What assistive technology is told: a tree, of which one item at a time takes the focus.
    announce() {
      this.svg.setAttribute("role", "tree");
      const sizes = new Map();
      for (const node of this.nodes) {
        const above = node.under.at(-1) ?? "";
        sizes.set(above, (sizes.get(above) ?? 0) + 1);
      }
      for (const node of this.nodes) {
        const { element } = node;
        element.setAttribute("role", "treeitem");
        element.setAttribute("aria-label", element.dataset.label);
        element.setAttribute("aria-level", String(node.under.length + 1));
        element.setAttribute("aria-posinset", element.dataset.place);
        element.setAttribute("aria-setsize", String(sizes.get(node.under.at(-1) ?? "")));
        element.setAttribute("aria-selected", "false");
        element.setAttribute("tabindex", node === this.nodes[0] ? "0" : "-1");
        if (node.gate) element.setAttribute("aria-expanded", "true");
      }
      this.current = this.nodes[0];
    }

    listen() {
      const of = (event) => {
        const element = event.target.closest("[data-node]");
        return this.nodes.find((node) => node.element === element) ?? null;
      };
      this.svg.addEventListener("click", (event) => {
        const node = of(event);
        if (node === null) {
          this.pin(null);
          return;
        }
        this.focus(node);
        // A gate's symbol folds it; all the rest selects.
        if (node.gate && event.target.closest(".symbol, .inner, .closed")) this.toggle(node);
        else this.pin(this.pinned === node ? null : node);
      });
      this.svg.addEventListener("mouseover", (event) => this.paint(of(event) ?? this.pinned));
      this.svg.addEventListener("mouseleave", () => this.paint(this.pinned));
      this.svg.addEventListener("focusin", (event) => {
        const node = of(event);
        if (node !== null) this.paint(node);
      });
      this.svg.addEventListener("focusout", () => this.paint(this.pinned));
      this.svg.addEventListener("keydown", (event) => this.key(event, of(event)));
    }

    key(event, node) {
      if (node === null || event.altKey || event.ctrlKey || event.metaKey) return;
      const shown = this.nodes.filter((other) => other.shown);
      const at = shown.indexOf(node);
      const open = node.gate && !this.folded.has(node.ident);
      const above = this.nodes.find((other) => other.gate && other.ident === node.under.at(-1));
      const keys = {
        ArrowDown: () => this.focus(shown[at + 1]),
        ArrowUp: () => this.focus(shown[at - 1]),
        Home: () => this.focus(shown[0]),
        End: () => this.focus(shown.at(-1)),
        ArrowRight: () => {
          if (open) this.focus(shown[at + 1]);
          else if (node.gate) this.toggle(node);
        },
        ArrowLeft: () => (open ? this.toggle(node) : this.focus(above)),
        Enter: () => this.pin(this.pinned === node ? null : node),
        " ": () => this.pin(this.pinned === node ? null : node),
        Escape: () => this.pin(null),
      };
      if (!(event.key in keys)) return;
      keys[event.key]();
      event.preventDefault();
      event.stopPropagation();
    }

    focus(node) {
      if (node === undefined) return;
      this.current.element.setAttribute("tabindex", "-1");
      this.current = node;
      node.element.setAttribute("tabindex", "0");
      node.element.focus();
    }

    toggle(node) {
      if (!this.folded.delete(node.ident)) this.folded.add(node.ident);
      this.arrange();
    }

    // All causes, or none.
    fold(closed) {
      this.folded.clear();
      const causes = this.nodes.filter((node) => node.gate && node.under.length === 1);
      if (closed) for (const node of causes) this.folded.add(node.ident);
      this.arrange();
    }

    heights(visible) {
      const at = [];
      let height = 0;
      let gap = false;
      for (let row = 0; row < this.rows; row += 1) {
        gap = gap || this.starts.has(row);
        if (row > 0 && visible(row)) {
          height += gap ? this.start : this.step;
          gap = false;
        }
        if (row === 0) gap = false;
        at.push(height);
      }
      return at;
    }

    arrange() {
      const rows = new Set();
      for (const node of this.nodes) {
        node.shown = !node.under.some((ident) => this.folded.has(ident));
        if (node.shown) rows.add(node.row);
        node.element.style.display = node.shown ? "" : "none";
        if (node.gate) {
          const closed = this.folded.has(node.ident);
          node.element.classList.toggle("folded", closed);
          node.element.setAttribute("aria-expanded", String(!closed));
        }
      }
      const at = this.heights((row) => rows.has(row));
      for (const node of this.nodes) {
        node.element.setAttribute("transform", `translate(0,${at[node.row]})`);
      }
      for (const bus of this.buses) {
        const shown = !bus.under.some((ident) => this.folded.has(ident));
        bus.element.style.display = shown ? "" : "none";
        bus.element.setAttribute("y1", String(at[bus.from]));
        bus.element.setAttribute("y2", String(at[bus.to]));
      }
      const { x, y, width } = this.view;
      const bottom = at[this.rows - 1];
      const boxed = this.nodes.some(
        (node) => node.shown && this.folded.has(node.ident) && at[node.row] === bottom,
      );
      // The box of a folded gate reaches below its row.
      const rest = boxed ? Math.max(this.rest, 50 + this.margin) : this.rest;
      const height = bottom + rest - y;
      this.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
      this.svg.setAttribute("height", String(height * this.scale));
      if (!this.current.shown) {
        const gate = this.nodes.find((node) => node.shown && this.current.under.includes(node.ident)
          && this.folded.has(node.ident));
        if (gate !== undefined) {
          const held = this.svg.contains(document.activeElement);
          this.current.element.setAttribute("tabindex", "-1");
          this.current = gate;
          gate.element.setAttribute("tabindex", "0");
          if (held) gate.element.focus();
        }
      }
    }

    pin(node) {
      this.pinned?.element.setAttribute("aria-selected", "false");
      this.pinned = node;
      node?.element.setAttribute("aria-selected", "true");
      this.paint(node);
    }

    // Lights a gate with all that is below it, or an event wherever it is.
    paint(node) {
      const lit = (other) =>
        other.ident === node.ident ||
        (node.gate && other.under.includes(node.ident)) ||
        (!node.gate && other.gate && other.under.length === 1 && this.has(other, node.ident));
      const none = node === null || node.under.length === 0;
      this.svg.classList.toggle("choosing", !none);
      for (const other of this.nodes) other.element.classList.toggle("lit", !none && lit(other));
      for (const bus of this.buses) {
        const inside = !none && node.gate && bus.under.includes(node.ident);
        bus.element.classList.toggle("lit", inside);
      }
    }

    has(gate, ident) {
      return this.nodes.some((node) => node.ident === ident && node.under.includes(gate.ident));
    }
  }

  function words(text) {
    return text === "" ? [] : text.split(" ");
  }

  document.documentElement.classList.add("js");
  for (const figure of document.querySelectorAll(".fault-tree-view")) {
    const svg = figure.querySelector("svg.fault-tree");
    if (svg === null) continue;
    const tree = new FaultTree(svg);
    for (const button of figure.querySelectorAll("[data-fold]")) {
      button.addEventListener("click", () => tree.fold(button.dataset.fold === "all"));
    }
    // Paper has no way to open them.
    window.addEventListener("beforeprint", () => tree.fold(false));
  }
})();
