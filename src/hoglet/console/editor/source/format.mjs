// Formats code by changing whitespace only, outside of strings and comments.

const TOKEN =
  /(?<comment>\/\*[\s\S]*?\*\/|--[^\n]*|\/\/[^\n]*)|(?<string>f?'(?:\\[\s\S]|''|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*"|`(?:\\[\s\S]|[^`\\])*`)|(?<space>\s+)|(?<word>[A-Za-z_$][\w$]*)|(?<other>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|::|\|\||&&|->|=>|<=|>=|!=|<>|==|:=|\?\?|\?\.|=~\*?|!~\*?|[^\s])/gy;

const tokens = (text, isSql) => {
  const found = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    let kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    if (kind === "comment" && match[0].startsWith("--") && !isSql) {
      TOKEN.lastIndex = match.index + 1;
      found.push({ kind: "other", text: "-" });
    } else {
      found.push({ kind, text: match[0] });
    }
  }
  return found;
};

// Indents each line by the number of brackets open at its start.
export const indentLines = (text) => {
  const opened = []; // line numbers of the open brackets
  let line = "";
  let indent = 0;
  const lines = [];
  const depth = () => new Set(opened).size;
  const end = () => {
    lines.push(line ? "  ".repeat(indent) + line.trimEnd() : "");
    line = "";
  };
  for (const { kind, text: piece } of tokens(text, false)) {
    if (kind === "space") {
      const breaks = Math.min(piece.split("\n").length - 1, 2);
      for (let index = 0; index < breaks; index += 1) end();
      if (!breaks && line) line += piece;
      continue;
    }
    const isLeading = /^[)\]}]*$/.test(line);
    if (kind === "other" && ")]}".includes(piece)) opened.pop();
    if (isLeading && (!line || ")]}".includes(piece))) indent = depth();
    line += piece;
    if (kind === "other" && "([{".includes(piece)) opened.push(lines.length);
  }
  end();
  return lines.join("\n").trim() + "\n";
};

const CLAUSES = new Set(
  "select from where prewhere group having order limit offset union intersect except with window settings qualify".split(" "),
);
const JOINS = new Set("join left right inner full cross any all asof semi anti outer global array".split(" "));
const UPPER = new Set(
  [...CLAUSES, ...JOINS].concat(
    "by as and or not in is null on using between like ilike case when then else end asc desc distinct interval over partition recursive final nulls first last totals".split(" "),
  ),
);

// Puts each clause of a query on a line of its own and writes keywords in capitals.
export const formatQuery = (text) => {
  const all = tokens(text, true).filter((token) => token.kind !== "space");
  const brackets = [];
  let out = "";
  let previous = null;
  for (let index = 0; index < all.length; index += 1) {
    const token = all[index];
    const next = all[index + 1]?.text;
    const isName = previous?.text === "." || next === "." || (previous?.text ?? "").toLowerCase() === "as";
    const isKeyword = token.kind === "word" && !isName && UPPER.has(token.text.toLowerCase()) && (next !== "(" || CLAUSES.has(token.text.toLowerCase()) || /^(and|or|not|in|on|over|as|when|then|else|by|using|between|is|distinct)$/i.test(token.text));
    const lower = token.text.toLowerCase();
    const startsClause = isKeyword && breaks(lower, previous, next);
    const piece = isKeyword ? token.text.toUpperCase() : token.text;
    const isQuery = brackets.length === 0 || brackets.at(-1);
    if (previous?.kind === "comment" || (startsClause && isQuery && out))
      out = out.trimEnd() + "\n" + "  ".repeat(brackets.filter(Boolean).length) + piece;
    else if (token.text === ")" && brackets.at(-1))
      out = out.trimEnd() + "\n" + "  ".repeat(brackets.filter(Boolean).length - 1) + piece;
    else if (previous && brackets.at(-1) && previous.text === "(")
      out = out.trimEnd() + "\n" + "  ".repeat(brackets.filter(Boolean).length) + piece;
    else out += spaced(previous, token, all, index) ? ` ${piece}` : piece;
    if (token.text === "(") brackets.push(/^(select|with)$/i.test(next ?? ""));
    if (token.text === ")") brackets.pop();
    previous = { ...token, isKeyword };
  }
  return out.trim() + "\n";
};

const breaks = (word, previous, next) => {
  const before = previous?.isKeyword ? previous.text.toLowerCase() : "";
  if (JOINS.has(word)) {
    if (word === "all" || word === "any") return JOINS.has((next ?? "").toLowerCase()) && before !== "union";
    return !JOINS.has(before) && (word === "join" || JOINS.has((next ?? "").toLowerCase()));
  }
  if (word === "select") return !["all", "distinct"].includes(before) || before === "all";
  if (word === "group" || word === "order") return (next ?? "").toLowerCase() === "by";
  return CLAUSES.has(word);
};

const TIGHT_AFTER = new Set(["(", "[", ".", "{", "::", "?."]);
const TIGHT_BEFORE = new Set([")", "]", ",", ".", ";", "}", "::", "?."]);
const ENDS_OPERAND = /^[\w$)\]}'"`]$/;
const spaced = (previous, token, all, index) => {
  if (!previous || TIGHT_AFTER.has(previous.text) || TIGHT_BEFORE.has(token.text)) return false;
  if (token.text === "(" || token.text === "[")
    return previous.isKeyword || !ENDS_OPERAND.test(previous.text.at(-1));
  if (previous.text === "-" || previous.text === "+") {
    const before = all[index - 2]; // a sign belongs to its number, an operator stands alone
    const isKeyword = before?.kind === "word" && UPPER.has(before.text.toLowerCase());
    return Boolean(before) && !isKeyword && ENDS_OPERAND.test(before.text.at(-1));
  }
  return true;
};
