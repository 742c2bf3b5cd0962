// The code editor of the console as a Vue component: CodeMirror with modes for Hog and HogQL,
// completion and problems from the API, format, and keys to save and run.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { forceLinting, linter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { formatQuery, indentLines } from "./format.mjs";
import { hog, hogQL, javascript } from "./languages.mjs";

const MODES = { hog: () => hog, hogQL: () => hogQL, json, javascript: () => javascript };
const CHECKED = new Set(["hog", "hogQL"]);
const CHANGE_MS = 120;
const parseJson = jsonParseLinter();

const colors = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.atom, tags.bool, tags.null], color: "var(--number)" },
  { tag: [tags.function(tags.variableName), tags.propertyName], color: "var(--name)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: tags.meta, color: "var(--keyword)" },
]);

const look = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--bg)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--text)", minHeight: "6em" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLineGutter": { color: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--soft)" },
  ".cm-matchingBracket": { backgroundColor: "var(--soft) !important", outline: "1px solid var(--line)" },
  ".cm-selectionMatch": { backgroundColor: "var(--hover)" },
  ".cm-tooltip": { backgroundColor: "var(--bg)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "6px", boxShadow: "0 8px 24px #0003" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--soft)", color: "var(--text)" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
  ".cm-completionInfo": { maxWidth: "24rem", padding: "6px 10px" },
  ".cm-diagnostic": { borderLeftWidth: "3px", fontFamily: "var(--sans)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--danger)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--hover)", border: "none", color: "var(--muted)" },
});

// The API counts characters, CodeMirror counts UTF-16 units.
const characters = (text) => [...text].length;
const unitsAt = (text, count) => {
  let units = 0;
  for (const character of text) {
    if (count-- <= 0) break;
    units += character.length;
  }
  return units;
};

const ask = async (address, query) => {
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(query),
  });
  return response.ok ? response.json() : null;
};

const KINDS = { Variable: "variable", Function: "function", Class: "class", Keyword: "keyword", Property: "property", Constant: "constant" };

export default {
  props: { value: String, language: String, label: String, service: String, globals: Object, isReadonly: Boolean, hint: String, guarded: Boolean },
  emits: ["change", "save", "run", "problems"],
  template: `<div class="hog-editor"></div>`,
  mounted() {
    this.saved = this.value ?? "";
    this.editable = new Compartment();
    const isChecked = CHECKED.has(this.language) && this.service;
    this.view = new EditorView({
      parent: this.$el,
      state: EditorState.create({
        doc: this.saved,
        extensions: [
          lineNumbers(),
          foldGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          indentUnit.of("  "),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          search({ top: true }),
          (MODES[this.language] ?? MODES.json)(),
          syntaxHighlighting(colors),
          look,
          EditorView.lineWrapping,
          this.hint ? placeholder(this.hint) : [],
          this.editable.of([EditorState.readOnly.of(this.isReadonly), EditorView.editable.of(!this.isReadonly)]),
          EditorView.contentAttributes.of({
            "aria-label": this.label || "Code",
            "aria-description": "Escape, then Tab leaves the editor.",
            tabindex: "0",
          }),
          autocompletion({ override: isChecked ? [(context) => this.complete(context)] : [] }),
          isChecked ? linter((view) => this.check(view), { delay: 350 }) : [],
          this.language === "json" ? linter((view) => { const found = parseJson(view); return found.length ? found : this.refused(view); }, { delay: 350 }) : [],
          keymap.of([
            { key: "Mod-s", preventDefault: true, run: () => this.send("save") },
            { key: "Mod-Enter", preventDefault: true, run: () => this.send("run") },
            { key: "Shift-Alt-f", preventDefault: true, run: () => this.format() },
            ...closeBracketsKeymap,
            ...completionKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...foldKeymap,
            ...lintKeymap,
            indentWithTab,
            ...defaultKeymap,
          ]),
          EditorView.updateListener.of((update) => update.docChanged && this.changed()),
          EditorView.domEventHandlers({ blur: () => this.flush() }),
        ],
      }),
    });
    if (this.isReadonly) return;
    globalThis.hogletEditors?.add(this);
    const unsaved = globalThis.hogletTakeUnsaved?.(this.label, this.saved);
    if (unsaved) this.setText(unsaved);
  },
  beforeUnmount() {
    clearTimeout(this.timer);
    globalThis.hogletEditors?.delete(this);
    globalThis.hogletDirty?.(this.$el.id, false);
    this.view.destroy();
  },
  methods: {
    text() {
      return this.view.state.doc.toString();
    },
    changed() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.flush(), CHANGE_MS);
      this.showDirty();
    },
    flush() {
      clearTimeout(this.timer);
      const text = this.text();
      if (text === this.sent) return;
      this.sent = text;
      this.$emit("change", text);
    },
    showDirty() {
      if (!this.guarded) return;
      const isDirty = this.text() !== this.saved;
      this.$el.toggleAttribute("data-dirty", isDirty);
      globalThis.hogletDirty?.(this.$el.id, isDirty);
    },
    send(event) {
      this.flush();
      this.$emit(event, this.text());
      return true;
    },
    markSaved(text) {
      this.saved = text ?? this.text();
      this.showDirty();
    },
    setText(text) {
      const { length } = this.view.state.doc;
      this.view.dispatch({ changes: { from: 0, to: length, insert: text } });
    },
    insert(text) {
      this.view.dispatch(this.view.state.replaceSelection(text));
      this.view.focus();
    },
    // The server's error, at a 1-based line and column; it stays until the text changes.
    showProblem(line, column, message) {
      const { doc } = this.view.state;
      if (!line || line > doc.lines) return;
      const place = doc.line(line);
      const from = Math.min(place.from + Math.max(0, (column ?? 1) - 1), place.to);
      const to = column ? this.view.state.wordAt(from)?.to ?? place.to : place.to;
      const start = column && from < to ? from : place.from;
      this.problem = { doc, from: start, to: Math.max(to, start), severity: "error", message };
      this.view.dispatch(setDiagnostics(this.view.state, this.refused(this.view)));
    },
    refused(view) {
      if (this.problem?.doc !== view.state.doc) return [];
      const { from, to, severity, message } = this.problem;
      return [{ from, to, severity, message }];
    },
    format() {
      if (this.isReadonly) return true;
      const text = this.text();
      let formatted = text;
      if (this.language === "json") {
        try {
          formatted = JSON.stringify(JSON.parse(text), null, 2) + "\n";
        } catch {
          return true;
        }
      } else {
        formatted = this.language === "hogQL" ? formatQuery(text) : indentLines(text);
      }
      if (formatted.trim() !== text.trim() || formatted !== text) this.setText(formatted.trimEnd());
      return true;
    },
    recheck() {
      forceLinting(this.view);
    },
    async complete(context) {
      const word = context.matchBefore(/[\w$]*/);
      const before = context.state.sliceDoc(Math.max(0, word.from - 1), word.from);
      const openers = this.language === "hogQL" ? ".{" : "."; // a variable begins with a brace
      if (!context.explicit && word.from === word.to && !(before && openers.includes(before))) return null;
      const text = context.state.doc.toString();
      const answer = await ask(this.service, {
        kind: "HogQLAutocomplete",
        language: this.language,
        query: text,
        startPosition: characters(text.slice(0, word.from)),
        endPosition: characters(text.slice(0, context.pos)),
        ...(this.globals ? { globals: this.globals } : {}),
      });
      if (!answer || context.aborted || !this.view.hasFocus) return null;
      const options = answer.suggestions.map((each, index) => ({
        label: each.label,
        detail: each.detail ?? undefined,
        info: each.documentation ?? undefined,
        type: KINDS[each.kind] ?? "text",
        boost: -index / 1000,
        apply: (view, _completion, from, to) => apply(view, from, to, each.insertText),
      }));
      return { from: word.from, options, validFor: answer.incomplete_list ? undefined : /^[\w$]*$/ };
    },
    async check(view) {
      const text = view.state.doc.toString();
      if (!text.trim()) return this.refused(view);
      const answer = await ask(this.service, {
        kind: "HogQLMetadata",
        language: this.language,
        query: text,
        ...(this.globals ? { globals: this.globals } : {}),
      });
      if (!answer) return this.refused(view);
      const found = ["errors", "warnings", "notices"].flatMap((kind) =>
        answer[kind].map((each) => {
          const from = Math.min(unitsAt(text, each.start ?? 0), text.length);
          const to = Math.min(unitsAt(text, each.end ?? characters(text)), text.length);
          const severity = { errors: "error", warnings: "warning", notices: "info" }[kind];
          return { from: Math.min(from, to), to, severity, message: each.message };
        }),
      );
      const errors = found.filter((each) => each.severity === "error").length;
      this.$emit("problems", errors);
      return errors ? found : [...found, ...this.refused(view)];
    },
  },
};

const apply = (view, from, to, text) => {
  const inner = text.endsWith("()") ? text.length - 1 : text.length;
  view.dispatch({ changes: { from, to, insert: text }, selection: { anchor: from + inner } });
};
