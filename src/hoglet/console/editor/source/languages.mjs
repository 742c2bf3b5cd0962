// Modes for Hog, HogQL and JavaScript: tokenizers that give each token a colour.
import { StreamLanguage } from "@codemirror/language";
import { tags } from "@lezer/highlight";

const words = (text) => new Set(text.split(" "));
const HOG = words(
  "let fn fun return if else while for in throw try catch finally and or not like ilike",
);
const JAVASCRIPT = words(
  "async await break case catch class const continue default delete do else enum export extends " +
    "finally for function if import in instanceof interface let new of return switch this throw " +
    "try type typeof var void while yield",
);
const SQL = words(
  "all and any array as asc between by case cross cube current date day desc distinct else end " +
    "except exists extract final first following from full global group having hour ilike in " +
    "inner intersect interval into is join last lateral left like limit lowercase minute month not nulls " +
    "offset on or order outer over partition preceding prewhere qualify quarter range recursive right rollup " +
    "row rows sample second select semi settings substring then ties to totals trim truncate " +
    "unbounded union using values week when where window with within year",
);
const ATOMS = words("true false null undefined");

const TOKENS = { function: tags.function(tags.variableName) };

// The rest of a string or comment, up to its end or the end of the line.
const inside = (stream, state) => {
  const { end, kind } = state.open;
  while (!stream.eol()) {
    if (end !== "*/" && stream.eat("\\")) {
      stream.next();
    } else if (stream.match(end)) {
      state.open = null;
      return kind;
    } else {
      stream.next();
    }
  }
  return kind;
};

// The indentation of a new line: that of the previous line, plus one step after an open bracket.
const indent = (_state, after, context) => {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.number > 1 ? context.state.doc.line(line.number - 1).text : "";
  const opens = /[({[]\s*$/.test(before) ? context.unit : 0;
  const closes = /^\s*[)}\]]/.test(after) ? context.unit : 0;
  return Math.max(0, before.match(/^\s*/)[0].length + opens - closes);
};

const language = (keywords, { isSql = false, quotes }) => {
  const kindOf = (stream, word) => {
    const name = isSql ? word.toLowerCase() : word;
    if (ATOMS.has(name)) return "atom";
    if (keywords.has(name)) return "keyword";
    return stream.match(/^\s*\(/, false) ? "function" : "variableName";
  };
  const begin = (stream, state, end, kind) => {
    state.open = { end, kind };
    return inside(stream, state);
  };
  const token = (stream, state) => {
    if (state.open) return inside(stream, state);
    if (stream.eatSpace()) return null;
    if (stream.match("/*")) return begin(stream, state, "*/", "comment");
    if (stream.match("//") || (isSql && stream.match("--"))) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match("f'")) return begin(stream, state, "'", "string");
    const quote = stream.peek();
    if (quote in quotes) {
      stream.next();
      return begin(stream, state, quote, quotes[quote]);
    }
    if (stream.match(/^(0x[\da-f]+|\d+(\.\d+)?(e[+-]?\d+)?)/i)) return "number";
    const word = stream.match(/^[A-Za-z_$][\w$]*/);
    if (word) return kindOf(stream, word[0]);
    if (isSql && stream.match(/^[{}]/)) return "meta";
    if (stream.match(/^[-+*/%=<>!?:|&~]+/)) return "operator";
    stream.next();
    return null;
  };
  return StreamLanguage.define({
    startState: () => ({ open: null }),
    copyState: (state) => ({ open: state.open }),
    token,
    indent,
    tokenTable: TOKENS,
    languageData: {
      commentTokens: { line: isSql ? "--" : "//", block: { open: "/*", close: "*/" } },
      closeBrackets: { brackets: ["(", "[", "{", "'", '"'] },
    },
  });
};

export const hog = language(HOG, {
  quotes: { "'": "string", '"': "string", "`": "variableName" },
});
export const javascript = language(JAVASCRIPT, {
  quotes: { "'": "string", '"': "string", "`": "string" },
});
export const hogQL = language(SQL, {
  isSql: true,
  quotes: { "'": "string", '"': "variableName", "`": "variableName" },
});
