// Shows the OpenAPI document of this server: operations by tag, search, schemas, curl commands.
// The document's text is inserted as text, never as HTML.

const METHODS = ["get", "post", "put", "patch", "delete"];
const MAX_DEPTH = 6;

/** The operations of a document: [{id, tag, method, path, operation}], by tag and path. */
export function operationsOf(document) {
  const found = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation) {
        found.push({id: operation.operationId, tag: operation.tags[0], method, path, operation});
      }
    }
  }
  return found.sort((a, b) => a.tag.localeCompare(b.tag) || a.path.localeCompare(b.path));
}

/** Whether every word of the search is part of the method, path, tag or summary. */
export function matches({tag, method, path, operation}, search) {
  const text = `${method} ${path} ${tag} ${operation.summary ?? ""}`.toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

export function resolve(document, schema) {
  let resolved = schema ?? {};
  for (let step = 0; resolved.$ref && step < MAX_DEPTH; step += 1) {
    const name = resolved.$ref.split("/").pop();
    resolved = document.components.schemas[name] ?? {};
  }
  return resolved;
}

/** A value that has the shape of a schema: required properties, or the first ones. */
export function sample(document, schema, depth = 0) {
  const shape = resolve(document, schema);
  if (shape.const !== undefined) return shape.const;
  if (shape.enum) return shape.enum[0];
  if (shape.default !== undefined && shape.default !== null) return shape.default;
  const choices = shape.anyOf ?? shape.oneOf ?? shape.allOf;
  if (choices) {
    const choice = choices.find((each) => resolve(document, each).type !== "null") ?? choices[0];
    return sample(document, choice, depth + 1);
  }
  const type = Array.isArray(shape.type) ? shape.type[0] : shape.type;
  if (type === "array") {
    const wanted = shape.minItems ? 1 : 0;
    return wanted && depth < MAX_DEPTH ? [sample(document, shape.items, depth + 1)] : [];
  }
  if (type === "object" || shape.properties) {
    if (depth >= MAX_DEPTH) return {};
    const names = shape.required?.length ? shape.required : Object.keys(shape.properties ?? {}).slice(0, 2);
    return Object.fromEntries(
      names.map((name) => [name, sample(document, shape.properties?.[name], depth + 1)]),
    );
  }
  if (type === "integer" || type === "number") return shape.minimum ?? 1;
  if (type === "boolean") return true;
  if (type === "null") return null;
  return shape.format === "date-time" ? "2026-01-05T12:00:00Z" : "text";
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The operation as a shell command; the key is taken from HOGLET_API_KEY. */
export function curl(document, {method, path, operation}, origin, project = "1") {
  const address = path.replace(/{(\w+)}/g, (_whole, name) =>
    name === "project_id" ? encodeURIComponent(project) : name.toUpperCase());
  const parts = [`curl -X ${method.toUpperCase()} ${quoted(origin + address)}`];
  if (operation.security) parts.push('-H "Authorization: Bearer $HOGLET_API_KEY"');
  const body = operation.requestBody?.content["application/json"];
  if (body) {
    parts.push("-H 'Content-Type: application/json'");
    parts.push(`-d ${quoted(JSON.stringify(sample(document, body.schema)))}`);
  }
  return parts.join(" \\\n  ");
}

/** The type of a schema in a few words: "string", "array of Cohort", "string or null". */
export function typeName(schema) {
  if (!schema || Object.keys(schema).length === 0) return "any";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices) return choices.map(typeName).join(" or ");
  if (schema.type === "array") return `array of ${typeName(schema.items)}`;
  return [schema.type ?? "any"].flat().join(" or ");
}

// --- the page

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A schema as a list of its properties; those of referenced schemas open on demand. */
function schemaView(openapi, schema, depth = 0) {
  const inner = schema?.type === "array" ? schema.items : schema;
  const choices = inner?.anyOf ?? inner?.oneOf;
  const shape = resolve(openapi, inner);
  if (depth < MAX_DEPTH && choices) {
    return element("div", {}, ...choices.map((each) => schemaView(openapi, each, depth + 1)));
  }
  if (!shape.properties || depth >= MAX_DEPTH) return element("code", {}, typeName(schema));
  const list = element("ul", {class: "properties"});
  for (const [name, property] of Object.entries(shape.properties)) {
    const required = shape.required?.includes(name) ? ", required" : "";
    const row = element("li", {}, element("code", {}, name), ` ${typeName(property)}${required}`);
    if (property.description) row.append(` – ${property.description}`);
    if (JSON.stringify(property).includes('"$ref"')) row.append(later("shape", () => schemaView(openapi, property, depth + 1)));
    list.append(row);
  }
  return list;
}

function later(title, build) {
  const box = element("details", {}, element("summary", {}, title));
  box.addEventListener("toggle", () => box.open && box.children.length === 1 && box.append(element("div", {class: "content"}, build())));
  return box;
}

function curlView(openapi, each) {
  const text = () => curl(openapi, each, location.origin, document.getElementById("project").value);
  const command = element("pre", {}, text());
  document.getElementById("project").addEventListener("input", () => { command.textContent = text(); });
  const button = element("button", {type: "button"}, "Copy as curl");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
    } catch {  // no permission, or a page without TLS: the user copies the selection
      getSelection().selectAllChildren(command);
      button.textContent = "Selected: press Ctrl+C";
    }
  });
  return element("div", {}, command, button);
}

function content(openapi, each) {
  const {operation} = each;
  const view = element("div", {});
  if (operation.description) view.append(element("p", {}, operation.description));
  view.append(curlView(openapi, each));
  if (operation.parameters?.length) {
    const rows = operation.parameters.map((parameter) => element("tr", {},
      element("td", {}, element("code", {}, parameter.name)),
      element("td", {}, `${parameter.in}, ${typeName(parameter.schema)}`),
      element("td", {}, parameter.description ?? "")));
    view.append(element("h3", {}, "Parameters"), element("table", {}, ...rows));
  }
  const body = operation.requestBody?.content["application/json"];
  if (body) view.append(element("h3", {}, "Request body"), schemaView(openapi, body.schema));
  view.append(element("h3", {}, "Responses"));
  for (const [status, response] of Object.entries(operation.responses)) {
    const [type, media] = Object.entries(response.content ?? {})[0] ?? [];
    const title = `${status} ${response.description}${type ? ` (${type})` : ""}`;
    view.append(media?.schema && Object.keys(media.schema).length
      ? later(title, () => schemaView(openapi, media.schema))
      : element("p", {}, title));
  }
  return view;
}

function operationView(openapi, each) {
  const box = later("", () => content(openapi, each));
  box.id = each.id;
  box.firstChild.append(
    element("span", {class: "method"}, each.method.toUpperCase()),
    element("span", {class: "path"}, each.path),
    element("span", {class: "summary"}, each.operation.summary ?? ""),
  );
  return box;
}

function show(openapi) {
  const sections = new Map();
  const shown = operationsOf(openapi).map((each) => {
    if (!sections.has(each.tag)) sections.set(each.tag, element("section", {}, element("h2", {}, each.tag)));
    const view = operationView(openapi, each);
    sections.get(each.tag).append(view);
    return {each, view};
  });
  document.getElementById("version").textContent = openapi.info.version;
  document.getElementById("operations").append(...sections.values());
  const search = document.getElementById("search");
  const filter = () => {
    let count = 0;
    for (const {each, view} of shown) {
      view.hidden = !matches(each, search.value.trim());
      count += view.hidden ? 0 : 1;
    }
    for (const section of sections.values()) {
      section.hidden = !section.querySelector(":scope > details:not([hidden])");
    }
    document.getElementById("status").textContent = `${count} of ${shown.length} operations`;
  };
  search.addEventListener("input", filter);
  filter();
  const linked = shown.find(({each}) => each.id === location.hash.slice(1));
  if (linked) {
    linked.view.open = true;
    linked.view.scrollIntoView();
  }
}

async function start() {
  try {
    const response = await fetch("/api/schema");
    if (!response.ok) throw new Error(`status ${response.status}`);
    show(await response.json());
  } catch (error) {
    document.getElementById("status").textContent = `The OpenAPI document could not be loaded: ${error.message}`;
  }
}

if (typeof document !== "undefined") start();
