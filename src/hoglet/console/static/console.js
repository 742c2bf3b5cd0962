// The console's shell: theme, sidebar, keyboard, jump dialog, relative times. Loaded in the head,
// before anything is drawn. User text is only ever set as textContent.
(() => {
  "use strict";
  const root = document.documentElement;
  const stored = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  };
  const store = (name, value) => {
    try {
      value === null ? localStorage.removeItem(name) : localStorage.setItem(name, value);
    } catch {
      // without storage, the choice is lost when the page is closed
    }
  };

  // --- theme: the system's unless the user chose one ---
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (stored("hoglet:theme") ?? (system.matches ? "dark" : "light")) === "dark";
  const applyTheme = () => {
    root.dataset.theme = isDark() ? "dark" : "light";
    root.style.colorScheme = root.dataset.theme;
    globalThis.Quasar?.Dark?.set(isDark());
    dispatchEvent(new CustomEvent("hoglet:theme", { detail: root.dataset.theme }));
  };
  system.addEventListener("change", applyTheme);
  const switchTheme = () => {
    const wanted = isDark() ? "light" : "dark";
    store("hoglet:theme", wanted === (system.matches ? "dark" : "light") ? null : wanted);
    applyTheme();
  };
  root.dataset.sidebar = stored("hoglet:sidebar") ?? "open";
  applyTheme();

  // --- icons: line drawings on a 24-unit grid ---
  const LINE =
    "@@fill:none;stroke:currentColor;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round";
  const ICONS = {
    account: "M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 4-6 8-6s8 2 8 6",
    add: "M12 5v14M5 12h14",
    api: "M8 6 3 12l5 6M16 6l5 6-5 6M14 4l-4 16",
    arrow_downward: "M12 4v16M6 14l6 6 6-6",
    arrow_drop_down: "M7 10l5 5 5-5",
    arrow_upward: "M12 20V4M6 10l6-6 6 6",
    bar_chart: "M4 20V10M10 20V4M16 20v-7M21 20H2",
    bolt: "M13 2 5 14h6l-1 8 9-13h-6z",
    braces: "M9 4c-3 0-3 2-3 4s-1 4-3 4c2 0 3 2 3 4s0 4 3 4M15 4c3 0 3 2 3 4s1 4 3 4c-2 0-3 2-3 4s0 4-3 4",
    cancel: "M6 6l12 12M18 6 6 18",
    check: "M5 12l5 5 9-10",
    check_circle: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8 12l3 3 5-6",
    chevron_left: "M15 5l-7 7 7 7",
    chevron_right: "M9 5l7 7-7 7",
    close: "M6 6l12 12M18 6 6 18",
    code: "M8 7l-5 5 5 5M16 7l5 5-5 5",
    cohorts: "M9 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12z",
    content_copy: "M9 9h11v12H9zM5 15H4V3h11v2",
    dark_mode: "M20 14A8.5 8.5 0 0 1 10 4a8.5 8.5 0 1 0 10 10z",
    delete: "M4 6h16M9 6V3h6v3M6 6l1 15h10l1-15M10 10v7M14 10v7",
    done_all: "M2 13l4 4 8-9M11 16l1 1 9-10",
    download: "M12 3v12M7 10l5 5 5-5M4 20h16",
    edit: "M4 20l1-5L16 4l4 4L9 19zM14 6l4 4",
    error: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 8v5M12 16.5v.1",
    error_outline: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 8v5M12 16.5v.1",
    events: "M3 12h4l3-8 4 16 3-8h4",
    first_page: "M18 5l-7 7 7 7M6 5v14",
    history: "M4 12a8 8 0 1 0 3-6.2L4 8M4 3v5h5M12 8v5l3 2",
    home: "M3 11l9-8 9 8M5 10v10h5v-6h4v6h5V10",
    info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v6M12 7.5v.1",
    input: "M4 5h16v14H4zM8 12h8M12 9l3 3-3 3",
    keyboard: "M2 6h20v12H2zM6 10h.1M10 10h.1M14 10h.1M18 10h.1M8 14h8",
    key: "M8 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 12h9v4M17 12v3",
    keyboard_arrow_down: "M6 9l6 6 6-6",
    last_page: "M6 5l7 7-7 7M18 5v14",
    list: "M8 6h12M8 12h12M8 18h12M4 6v.1M4 12v.1M4 18v.1",
    logout: "M10 4H4v16h6M15 8l4 4-4 4M19 12H9",
    menu: "M4 6h16M4 12h16M4 18h16",
    people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-4 3-5.5 6-5.5s6 1.5 6 5.5M16 4.5a3.5 3.5 0 0 1 0 6.5M17.5 14.8c2 .6 3.5 2 3.5 5.2",
    person: "M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 4-6 8-6s8 2 8 6",
    pets: "M5 13c2-6 12-7 15 0l1 3h-4c-1 3-9 3-10 0H3zM9 12v.1M6 10 4 7M10 7.5 9 4M14.5 7.5 16 4",
    play_arrow: "M7 4l13 8-13 8z",
    plug: "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4",
    publish: "M12 20V9M7 13l5-5 5 5M4 4h16",
    refresh: "M20 12a8 8 0 1 1-2.5-5.8L20 8M20 3v5h-5",
    replay: "M4 12a8 8 0 1 0 2.5-5.8L4 8M4 3v5h5",
    restore: "M4 12a8 8 0 1 0 2.5-5.8L4 8M4 3v5h5",
    save: "M5 4h11l4 4v12H4V4zM8 4v5h7V4M8 20v-6h8v6",
    search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 21 21",
    search_off: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 21 21M8 8l5 5M13 8l-5 5",
    sidebar: "M4 5h16v14H4zM9.5 5v14",
    sql: "M12 3c5 0 8 1.3 8 3s-3 3-8 3-8-1.3-8-3 3-3 8-3zM4 6v12c0 1.7 3 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3 3 8 3s8-1.3 8-3",
    status: "M3 12h4l2-5 4 10 2-5h6",
    subject: "M4 6h16M4 10h16M4 14h16M4 18h10",
    terminal: "M4 5h16v14H4zM7 9l3 3-3 3M12 15h4",
    warning: "M12 3 2 20h20zM12 10v5M12 17.5v.1",
  };
  const UNKNOWN = "M12 11.9v.2M6 11.9v.2M18 11.9v.2";
  globalThis.hogletIcon = (name) => ({ icon: (ICONS[name] ?? UNKNOWN) + LINE });

  // --- relative times; the exact time is shown on hover ---
  const STEPS = [
    [60, "second", 1],
    [3600, "minute", 60],
    [86400, "hour", 3600],
    [86400 * 30, "day", 86400],
    [86400 * 365, "month", 86400 * 30],
    [Infinity, "year", 86400 * 365],
  ];
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
  const zone = () => document.querySelector('meta[name="hoglet-zone"]')?.content || "UTC";
  const exact = (time) => {
    const options = { timeZone: zone(), dateStyle: "medium", timeStyle: "medium" };
    return `${new Intl.DateTimeFormat("en-GB", options).format(time)} ${zone()}`;
  };
  const relative = (time) => {
    const seconds = (time - Date.now()) / 1000;
    const size = Math.abs(seconds);
    if (size < 5) return "now";
    const [, unit, length] = STEPS.find(([limit]) => size < limit);
    return words.format(Math.trunc(seconds / length), unit);
  };
  customElements.define(
    "hog-time",
    class extends HTMLElement {
      static observedAttributes = ["iso"];
      connectedCallback() {
        this.show();
        this.timer = setInterval(() => this.show(), 15_000);
      }
      disconnectedCallback() {
        clearInterval(this.timer);
      }
      attributeChangedCallback() {
        this.show();
      }
      show() {
        const iso = this.getAttribute("iso");
        const time = iso ? new Date(iso) : null;
        if (!time || isNaN(time)) {
          this.textContent = "–";
          return;
        }
        this.textContent = relative(time);
        this.title = exact(time);
      }
    },
  );

  // --- long texts: their first lines, and a button that shows the rest ---
  customElements.define(
    "hog-clamp",
    class extends HTMLElement {
      connectedCallback() {
        this.watcher = new ResizeObserver(() => this.check());
        this.watcher.observe(this);
      }
      disconnectedCallback() {
        this.watcher.disconnect();
      }
      check() {
        const text = this.firstElementChild;
        if (!text || this.hasAttribute("open")) return;
        const isCut = text.scrollHeight > text.clientHeight + 1;
        if (isCut === Boolean(this.button)) return;
        this.button?.remove();
        this.button = isCut ? this.makeButton() : null;
        if (this.button) this.append(this.button);
      }
      makeButton() {
        const button = make("button", { type: "button", class: "more", "aria-expanded": "false" }, "Show all");
        button.addEventListener("click", (event) => {
          event.stopPropagation();
          const isOpen = this.toggleAttribute("open");
          button.setAttribute("aria-expanded", String(isOpen));
          button.textContent = isOpen ? "Show less" : "Show all";
        });
        return button;
      }
    },
  );

  // --- the jump dialog ---
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const project = () => location.pathname.match(/^\/project\/([^/]+)/)?.[1];
  let dialog = null;
  const jump = async () => {
    if (dialog?.open || !project()) return;
    const input = make("input", {
      role: "combobox",
      "aria-label": "Jump to a page, function or endpoint",
      "aria-controls": "jump-list",
      "aria-expanded": "true",
      "aria-autocomplete": "list",
      placeholder: "Jump to …",
      autocomplete: "off",
    });
    const list = make("ul", { id: "jump-list", role: "listbox", "aria-label": "Results", tabindex: "-1" });
    const nothing = make("p", { class: "jump-nothing", role: "status" });
    dialog = make("dialog", { class: "jump", "aria-label": "Jump to" }, input, list, nothing);
    document.body.append(dialog);
    dialog.addEventListener("close", () => dialog.remove());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    let items = [];
    let chosen = 0;
    const open = (item) => item && (location.href = item.href);
    const draw = () => {
      const needle = input.value.trim().toLowerCase();
      const shown = items
        .filter((item) => `${item.name} ${item.kind}`.toLowerCase().includes(needle))
        .slice(0, 30);
      chosen = Math.max(0, Math.min(chosen, shown.length - 1));
      list.replaceChildren(
        ...shown.map((item, index) => {
          const option = make(
            "li",
            { role: "option", id: `jump-${index}`, "aria-selected": String(index === chosen) },
            make("span", { class: "jump-name" }, item.name),
            make("span", { class: "jump-kind" }, item.kind),
          );
          option.addEventListener("click", () => open(item));
          return option;
        }),
      );
      list.hidden = shown.length === 0;
      nothing.textContent = items.length && !shown.length ? "Nothing has this name." : "";
      if (shown.length) input.setAttribute("aria-activedescendant", `jump-${chosen}`);
      list.children[chosen]?.scrollIntoView({ block: "nearest" });
      return shown;
    };
    input.addEventListener("input", () => {
      chosen = 0;
      draw();
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        chosen += event.key === "ArrowDown" ? 1 : -1;
        event.preventDefault();
        draw();
      } else if (event.key === "Enter") {
        event.preventDefault();
        open(draw()[chosen]);
      }
    });
    list.hidden = true;
    dialog.showModal();
    const answer = await fetch(`/console/jump/${project()}`);
    items = answer.ok ? await answer.json() : [];
    draw();
  };

  // --- the list of shortcuts, opened with "?" ---
  const KEYS_HELP = [
    ["Ctrl K", "Jump to a page, function or endpoint"],
    ["/", "Search on this page"],
    ["g h", "Home"],
    ["g e", "Events"],
    ["g p", "Persons"],
    ["g s", "SQL"],
    ["g f", "Functions"],
    ["g n", "Endpoints"],
    ["g d", "Dead letters"],
    ["Ctrl S", "Save"],
    ["Ctrl Enter", "Run"],
    ["Esc", "Close; in an editor, let Tab leave it"],
    ["?", "These keys"],
  ];
  const help = () => {
    if (document.querySelector("dialog[open], [role=dialog]")) return;
    const list = make("dl");
    for (const [keys, act] of KEYS_HELP) list.append(make("dt", {}, make("kbd", {}, keys)), make("dd", {}, act));
    const close = make("button", { type: "button", class: "plain" }, "Close");
    const shown = make("dialog", { class: "jump", "aria-label": "Shortcuts" }, make("h2", {}, "Shortcuts"), list, close);
    close.addEventListener("click", () => shown.close());
    shown.addEventListener("click", (event) => event.target === shown && shown.close());
    shown.addEventListener("close", () => shown.remove());
    document.body.append(shown);
    shown.showModal();
  };

  // --- clicks and keys ---
  const narrow = matchMedia("(max-width: 800px)");
  const menuButton = () => document.querySelector(".topbar [data-act=fold]");
  const setMenu = (state) => {
    root.dataset.menu = state;
    menuButton()?.setAttribute("aria-expanded", String(state === "open"));
  };
  const fold = () => {
    if (narrow.matches) {
      setMenu(root.dataset.menu === "open" ? "closed" : "open");
      return;
    }
    root.dataset.sidebar = root.dataset.sidebar === "open" ? "folded" : "open";
    store("hoglet:sidebar", root.dataset.sidebar);
  };
  const ACTS = { theme: switchTheme, fold, jump, help };
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-act]");
    if (button) ACTS[button.dataset.act]?.();
    else if (root.dataset.menu === "open" && !event.target.closest?.(".sidebar"))
      setMenu("closed");
  });
  const isTyping = (target) =>
    target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName ?? "");
  const GO = { h: "", e: "/events", f: "/functions", n: "/endpoints", s: "/sql", p: "/persons", d: "/dead-letters" };
  let leader = 0;
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      jump();
      return;
    }
    if (event.key === "Escape" && root.dataset.menu === "open") {
      setMenu("closed");
      menuButton()?.focus();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === "/") {
      event.preventDefault();
      const field = document.querySelector('input[data-search], [data-search] input');
      field ? field.focus() : jump();
    } else if (event.key === "?") {
      help();
    } else if (event.key === "g") {
      leader = Date.now();
    } else if (Date.now() - leader < 1500 && event.key in GO && project()) {
      leader = 0;
      location.href = `/project/${project()}${GO[event.key]}`;
    }
  });

  // --- a re-rendered form: focus returns to the field with the same name, meanwhile to its box ---
  const BOXES = ".pane, #content, [role=dialog]";
  const FOCUSABLE = "button, input, select, textarea, a[href], summary, [role=switch], [role=checkbox]";
  const nameOf = (element) =>
    element.getAttribute("aria-label") || (element.labels?.[0] ?? element).textContent.trim();
  const named = (box, name) =>
    [...box.querySelectorAll(FOCUSABLE)].filter((each) => nameOf(each) === name && each.checkVisibility());
  let focused = null;
  let refuge = null; // the box that has the focus while the field is gone
  document.addEventListener("focusin", ({ target }) => {
    if (target === refuge) return;
    refuge = null;
    const name = nameOf(target);
    const boxes = [];
    for (let box = target.closest(BOXES); box; box = box.parentElement?.closest(BOXES))
      boxes.push({ box, place: named(box, name).indexOf(target) });
    focused = { element: target, name, boxes };
  });
  const isLost = () =>
    focused && !focused.element.isConnected && [document.body, refuge].includes(document.activeElement);
  const restore = () => {
    if (!isLost()) return;
    const { box, place } = focused.boxes.find(({ box }) => box.isConnected) ?? {};
    const same = box ? named(box, focused.name) : [];
    (same[place] ?? same.at(-1))?.focus({ preventScroll: true });
  };
  // What is typed before the field is back must not land in another one, so no field gets the focus.
  const takeRefuge = () => {
    if (!isLost()) return;
    refuge = focused.boxes.find(({ box }) => box.isConnected && box.checkVisibility())?.box ?? null;
    if (!refuge) return;
    refuge.tabIndex = -1;
    refuge.focus({ preventScroll: true });
  };
  new MutationObserver(() => {
    if (!isLost()) return;
    restore();
    setTimeout(takeRefuge, 300); // most re-rendered fields are back by then
  }).observe(document, { childList: true, subtree: true });

  // --- Tab stays in the dialog that is open ---
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Tab" || event.defaultPrevented) return;
    const open = [...document.querySelectorAll("[role=dialog]")].filter((each) => each.checkVisibility());
    const box = open.at(-1);
    if (!box) return;
    const stops = [...box.querySelectorAll(`${FOCUSABLE}, [tabindex]`)].filter(
      (each) => !each.disabled && each.tabIndex >= 0 && each.checkVisibility(),
    );
    const [from, to] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
    const isInside = document.activeElement !== box && box.contains(document.activeElement);
    if (!to || (isInside && document.activeElement !== from)) return;
    event.preventDefault();
    to.focus();
  });

  // --- Enter in a one-line field sends its form ---
  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (event.key !== "Enter" || event.isComposing || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (field.tagName !== "INPUT" || /^(checkbox|radio|button|file)$/.test(field.type)) return;
    if (field.getAttribute("role") === "combobox") return;
    const button = field.closest("[data-form]")?.querySelector("[data-submit]");
    if (!button) return;
    event.preventDefault();
    field.blur(); // debounced fields send their value
    field.focus();
    setTimeout(() => button.click());
  });

  // --- Ctrl+S saves and Ctrl+Enter runs from every field of a page; editors have their own keys ---
  const KEYS = { s: "[data-save]", enter: "[data-run]" };
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.defaultPrevented || event.isComposing) return;
    const selector = KEYS[event.key.toLowerCase()];
    if (!selector || document.querySelector("[role=dialog]")) return;
    const button = [...document.querySelectorAll(selector)].find((each) => each.checkVisibility());
    if (!button) return;
    event.preventDefault();
    const field = document.activeElement;
    field?.blur(); // debounced fields send their value
    field?.focus();
    setTimeout(() => button.click());
  });

  // --- ended sessions, restarted servers ---
  const banner = (role, ...content) => {
    const shown = make("div", { role, class: "banner" }, ...content);
    document.body.append(shown);
    return shown;
  };
  globalThis.hogletSay = (text) => {
    document.querySelector(".banner[role=status]")?.remove();
    const shown = banner("status", text);
    setTimeout(() => shown.remove(), 3000);
  };
  // Counts operations that take noticeable time; overlapping ones show one indicator.
  let waits = 0;
  const progress = make("div", { class: "progress", role: "progressbar", "aria-label": "Working" });
  globalThis.hogletWaiting = (isWaiting) => {
    waits = Math.max(0, waits + (isWaiting ? 1 : -1));
    if (waits) (document.getElementById("content") ?? document.body).append(progress);
    else progress.remove();
  };
  // Without a connection, saves and runs are refused: NiceGUI would keep them without a word and send
  // them later, to a page that may be gone.
  const REFUSED = { s: "Not saved", enter: "Not run" };
  const isOffline = () => document.getElementById("popup")?.ariaHidden === "false";
  const refuse = (event, act) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    globalThis.hogletSay(`${act}: the connection to the server is lost. Try again once it is back.`);
  };
  document.addEventListener(
    "keydown",
    (event) => {
      const act = (event.ctrlKey || event.metaKey) && REFUSED[event.key.toLowerCase()];
      if (act && isOffline()) refuse(event, act);
    },
    true,
  );
  document.addEventListener(
    "click",
    (event) => {
      const button = event.target.closest?.("[data-save], [data-run]");
      if (button && isOffline()) refuse(event, button.matches("[data-save]") ? REFUSED.s : REFUSED.enter);
    },
    true,
  );
  globalThis.hogletSignedOut = () => {
    if (document.querySelector(".banner[role=alert]")) return;
    const next = encodeURIComponent(location.pathname + location.search);
    const link = make("a", { href: `/sign-in?next=${next}` }, "Sign in");
    banner("alert", "You are signed out, or the key was deleted. ", link);
  };
  const LOST = "hoglet:connection-lost";
  const session = (act) => {
    try {
      return act(sessionStorage);
    } catch {
      return null; // without storage, no message is shown
    }
  };
  addEventListener("DOMContentLoaded", () => {
    if (session((kept) => kept.getItem(LOST))) {
      const shown = banner("status", "Connected again.");
      setTimeout(() => shown.remove(), 8000);
    }
    const popup = document.getElementById("popup"); // "Connection lost", by NiceGUI
    const note = () =>
      popup?.ariaHidden === "false"
        ? session((kept) => kept.setItem(LOST, "1"))
        : session((kept) => kept.removeItem(LOST));
    note();
    if (popup) new MutationObserver(note).observe(popup, { attributeFilter: ["aria-hidden"] });
  });

  // --- code typed when the connection was lost or the session ended: the next page restores it ---
  const UNSAVED = "hoglet:unsaved-code";
  const editors = (globalThis.hogletEditors = new Set());
  const ENDED = "#popup[aria-hidden=false], .banner[role=alert]";
  addEventListener("pagehide", () => {
    const changed = [...editors].filter((editor) => editor.text() !== editor.saved);
    if (!changed.length || !document.querySelector(ENDED)) return;
    const texts = changed.map((editor) => [editor.label, [editor.saved, editor.text()]]);
    const unsaved = { path: location.pathname, texts: Object.fromEntries(texts) };
    session((kept) => kept.setItem(UNSAVED, JSON.stringify(unsaved)));
  });
  const unsavedHere = () => {
    const { path, texts } = session((kept) => JSON.parse(kept.getItem(UNSAVED))) ?? {};
    return path === location.pathname ? texts : null;
  };
  const forgetUnsaved = () => session((kept) => kept.removeItem(UNSAVED));
  if (unsavedHere()) setTimeout(forgetUnsaved, 10_000);
  else if (location.pathname !== "/sign-in") forgetUnsaved();
  globalThis.hogletTakeUnsaved = (label, value) => {
    const [saved, text] = unsavedHere()?.[label] ?? [];
    if (text === undefined || text === value) return null;
    const advice = saved === value ? "" : " It has changed elsewhere since: compare before you save.";
    const shown = banner("status", `Your unsaved text is back.${advice}`);
    setTimeout(() => shown.remove(), 8000);
    return text;
  };

  // --- warnings of a save that opens another page ---
  const WARNINGS = "hoglet:save-warnings";
  globalThis.hogletOpenWithWarnings = (path, warnings) => {
    session((kept) => kept.setItem(WARNINGS, JSON.stringify({ path, warnings })));
    location.assign(path);
  };
  globalThis.hogletTakeWarnings = () =>
    session((kept) => {
      const { path, warnings } = JSON.parse(kept.getItem(WARNINGS) ?? "{}");
      kept.removeItem(WARNINGS);
      if (path === location.pathname + location.search && warnings.length)
        emitEvent("hoglet-save-warnings", warnings);
    });

  // --- input before the connection is open ---
  // NiceGUI would wait for the connection with a timer for each event, so that the events arrive in
  // any order: an older value after a newer one, a click before the text. They queue here instead.
  const queued = [];
  let socket; // set once the page is drawn
  let isOpen = false;
  Object.defineProperty(globalThis, "socket", {
    get: () => socket,
    set: (opened) => {
      const emit = opened.emit.bind(opened);
      opened.emit = (...message) =>
        isOpen || message[0] === "handshake" ? emit(...message) : queued.push(message);
      socket = opened;
    },
  });
  Object.defineProperty(globalThis, "did_handshake", {
    get: () => socket !== undefined,
    set: (isDone) => {
      isOpen = isDone;
      if (isOpen) for (const message of queued.splice(0)) socket.emit(...message);
    },
  });

  // --- pages that refresh by themselves pause in a hidden tab ---
  document.addEventListener("visibilitychange", () =>
    globalThis.emitEvent?.("hoglet-visible", !document.hidden),
  );

  // --- leaving with unsaved changes ---
  const dirty = new Set();
  globalThis.hogletDirty = (id, isDirty) => (isDirty ? dirty.add(id) : dirty.delete(id));
  addEventListener("beforeunload", (event) => dirty.size && event.preventDefault());
})();
