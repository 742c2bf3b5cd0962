// A table with typed cells, sorted and extended in the browser. Values are only ever set as text.
const HELD_FROM = 160; // pixels scrolled from which new rows no longer move the list
const LONG = 300; // characters; shorter values are shown in full
const ONE_LINE = 40; // characters; values up to this length are not wrapped: ids, times, addresses
const WRAPPED = new Set(["text", "mono", "value", "tree"]);
const OPEN_LEVELS = 2; // levels of a tree that are open at first
const MAX_ITEMS = 50; // items shown per level of a tree, before "Show all"
const numbers = new Intl.NumberFormat("en");
const isTree = (value) => value !== null && typeof value === "object" && Object.keys(value).length > 0;

// The names and values of an object or list; lists count from 1, as HogQL does.
const ValueTree = {
  name: "ValueTree",
  props: { value: null, level: Number },
  data() {
    const offset = Array.isArray(this.value) ? 1 : 0;
    const entries = Object.entries(this.value).map(([name, inner]) => [offset ? Number(name) + 1 : name, inner]);
    return { entries, most: MAX_ITEMS, opened: {} };
  },
  methods: {
    isTree,
    size(inner) {
      const count = numbers.format(Object.keys(inner).length);
      return Array.isArray(inner) ? `[${count}]` : `{${count}}`;
    },
    isOpen(index) {
      return this.opened[index] ?? this.level < OPEN_LEVELS;
    },
    text(inner) {
      return typeof inner === "string" ? inner : JSON.stringify(inner);
    },
  },
  template: `
    <ul class="value-tree">
      <li v-for="([name, inner], index) in entries.slice(0, most)" :key="index">
        <details v-if="isTree(inner)" :open="isOpen(index)" @toggle.stop="opened[index] = $event.target.open">
          <summary>{{ name }} <span class="muted">{{ size(inner) }}</span></summary>
          <value-tree v-if="isOpen(index)" :value="inner" :level="level + 1"></value-tree>
        </details>
        <template v-else><span class="muted">{{ name }}:</span> {{ text(inner) }}</template>
      </li>
      <li v-if="entries.length > most"><button type="button" class="more" @click.stop="most = entries.length">Show all {{ entries.length }}</button></li>
    </ul>`,
};

// After each update a switch shows the row's value, so a rejected click is undone.
const shownAs = { updated: (input, { value }) => (input.checked = value) };

export default {
  components: { ValueTree },
  directives: { shownAs },
  props: {
    label: String,
    columns: Array,
    rows: Array,
    rowKey: String,
    pageSize: Number,
    selectable: Boolean,
    follows: Boolean,
    clickable: Boolean,
    hasMore: Boolean,
  },
  emits: ["row", "selected", "action", "more"],
  data() {
    return { sortedBy: null, ascending: true, shownRows: this.pageSize, selected: [], held: null };
  },
  mounted() {
    if (this.follows) addEventListener("scroll", this.hold, { passive: true });
  },
  unmounted() {
    removeEventListener("scroll", this.hold);
  },
  computed: {
    current() {
      return this.held ?? this.rows;
    },
    newer() {
      if (!this.held) return 0;
      const keys = new Set(this.held.map((row) => row[this.rowKey]));
      return this.rows.filter((row) => !keys.has(row[this.rowKey])).length;
    },
    sorted() {
      if (!this.sortedBy) return this.current;
      const key = this.sortedBy;
      const sign = this.ascending ? 1 : -1;
      const compare = (a, b) => {
        const [x, y] = [a[key], b[key]];
        if (x === y) return 0;
        if (x === null || x === undefined || x === "") return 1;
        if (y === null || y === undefined || y === "") return -1;
        return typeof x === "number" && typeof y === "number"
          ? sign * (x - y)
          : sign * String(x).localeCompare(String(y), "en", { numeric: true });
      };
      return [...this.current].sort(compare);
    },
    isLog() {
      return this.columns.at(-1).kind === "mono" && this.columns.some(({ kind }) => kind === "time");
    },
    shown() {
      return this.sorted.slice(0, this.shownRows);
    },
    isCut() {
      return this.current.length > this.shownRows;
    },
  },
  watch: {
    rows() {
      if (this.held) this.addOlder();
      const keys = new Set(this.rows.map((row) => row[this.rowKey]));
      this.choose(this.selected.filter((key) => keys.has(key)));
    },
  },
  methods: {
    hold() {
      const isDown = scrollY > HELD_FROM;
      if (isDown === Boolean(this.held)) return;
      this.held = isDown ? this.rows : null;
    },
    addOlder() {
      const last = this.held.at(-1)?.[this.rowKey];
      const index = this.rows.findIndex((row) => row[this.rowKey] === last);
      if (index >= 0) this.held = [...this.held, ...this.rows.slice(index + 1)];
    },
    more() {
      if (!this.isCut) this.$emit("more");
      this.shownRows += this.pageSize;
    },
    toTop() {
      this.held = null;
      scrollTo({ top: 0 });
    },
    choose(keys) {
      if (keys.length === 0 && this.selected.length === 0) return;
      this.selected = keys;
      this.$emit("selected", keys);
    },
    pick(key, on) {
      this.choose(on ? [...this.selected, key] : this.selected.filter((other) => other !== key));
    },
    pickAll(on) {
      this.choose(on ? this.rows.map((row) => row[this.rowKey]) : []);
    },
    sort(key) {
      this.ascending = this.sortedBy === key ? !this.ascending : true;
      this.sortedBy = key;
    },
    arrow(key) {
      return this.sortedBy === key ? (this.ascending ? "↑" : "↓") : "";
    },
    order(key) {
      if (this.sortedBy !== key) return "none";
      return this.ascending ? "ascending" : "descending";
    },
    isTree,
    text(value) {
      if (value === null || value === undefined) return "";
      return typeof value === "object" ? JSON.stringify(value) : String(value);
    },
    isLong(row, column) {
      return WRAPPED.has(column.kind) && this.text(row[column.key]).length > LONG;
    },
    isShort(row, column) {
      return column.kind.endsWith("value") && this.text(row[column.key]).length <= ONE_LINE;
    },
    number(value) {
      return typeof value === "number" ? numbers.format(value) : this.text(value);
    },
    bars(counts) {
      const most = Math.max(1, ...counts.map(([good, bad]) => good + bad));
      return counts.map(([good, bad], index) => {
        const [g, b] = [(good / most) * 20, (bad / most) * 20];
        return { x: index * 4, good: g, bad: b };
      });
    },
    href(row, column) {
      return row[`${column.key}_href`] ?? row.href;
    },
    act(row, column, value) {
      this.$emit("action", { key: row[this.rowKey], column: column.key, value });
    },
  },
  template: `
    <div class="w-full">
      <div class="newer" role="status"><button v-if="newer" type="button" @click="toTop">{{ number(newer) }} new, show</button></div>
      <div class="table-box" tabindex="0" role="region" :aria-label="label">
        <table class="data" :class="{ many: columns.length > 6, log: isLog }">
          <thead><tr>
            <th v-if="selectable" scope="col"><input type="checkbox" aria-label="Select all"
              :checked="selected.length > 0 && selected.length === rows.length"
              @change="pickAll($event.target.checked)"></th>
            <th v-for="column in columns" :key="column.key" scope="col" :class="'cell-' + column.kind"
              :aria-sort="column.kind === 'button' ? null : order(column.key)">
              <span v-if="column.kind === 'button'" :class="{ unseen: !column.label }">{{ column.label || "Actions" }}</span>
              <button v-else type="button" :data-arrow="arrow(column.key)" @click="sort(column.key)">{{ column.label }}</button>
            </th>
          </tr></thead>
          <tbody>
            <tr v-for="row in shown" :key="row[rowKey]" :class="{ clickable }" @click="clickable && $emit('row', row[rowKey])">
              <td v-if="selectable" @click.stop><input type="checkbox"
                :aria-label="'Select ' + text(row[columns[0].key])" :checked="selected.includes(row[rowKey])"
                @change="pick(row[rowKey], $event.target.checked)"></td>
              <td v-for="(column, index) in columns" :key="column.key" :class="['cell-' + column.kind, { name: index === 0, short: isShort(row, column) }]">
                <template v-if="column.kind === 'link'">
                  <a v-if="href(row, column)" :href="href(row, column)" :title="text(row[column.key])" @click.stop>{{ text(row[column.key]) }}</a>
                  <template v-else>{{ text(row[column.key]) }}</template>
                  <span v-if="row[column.key + '_note']" class="sub">{{ row[column.key + '_note'] }}</span>
                </template>
                <hog-time v-else-if="column.kind === 'time'" :iso="row[column.key] ?? ''"></hog-time>
                <span v-else-if="column.kind.endsWith('value') && row[column.key] === null" class="muted"><i>null</i></span>
                <value-tree v-else-if="column.kind === 'tree' && isTree(row[column.key])" :value="row[column.key]" :level="0"></value-tree>
                <button v-else-if="clickable && index === 0" type="button" class="plain" :title="text(row[column.key])" @click.stop="$emit('row', row[rowKey])">{{ text(row[column.key]) }}</button>
                <hog-clamp v-else-if="isLong(row, column)"><div>{{ text(row[column.key]) }}</div></hog-clamp>
                <span v-else-if="column.kind === 'clipped'" class="clipped" :title="text(row[column.key])">{{ text(row[column.key]) }}</span>
                <template v-else-if="column.kind === 'number'">{{ number(row[column.key]) }}</template>
                <template v-else-if="column.kind === 'badge'"><span v-if="text(row[column.key])" class="badge" :class="row[column.key + '_tone']">{{ text(row[column.key]) }}</span></template>
                <svg v-else-if="column.kind === 'spark' && row[column.key]" class="spark" role="img" :aria-label="row[column.key + '_note'] ?? ''"
                  :width="row[column.key].length * 4" height="20">
                  <title>{{ row[column.key + '_note'] }}</title>
                  <template v-for="bar in bars(row[column.key])">
                    <rect v-if="bar.good + bar.bad === 0" class="none" :x="bar.x" y="19" width="3" height="1"></rect>
                    <rect class="good" :x="bar.x" :y="20 - bar.good" width="3" :height="bar.good"></rect>
                    <rect class="bad" :x="bar.x" :y="20 - bar.good - bar.bad" width="3" :height="bar.bad"></rect>
                  </template>
                </svg>
                <input v-else-if="column.kind === 'toggle'" class="toggle" type="checkbox" role="switch"
                  :aria-label="column.label + ': ' + text(row[columns[0].key])" :checked="row[column.key]" v-shown-as="row[column.key]"
                  @click.stop @change="act(row, column, $event.target.checked)">
                <button v-else-if="column.kind === 'button' && row[column.key]" type="button" class="plain"
                  :aria-label="text(row[column.key]) + ': ' + text(row[columns[0].key])"
                  @click.stop="act(row, column, true)">{{ row[column.key] }}</button>
                <template v-else>{{ text(row[column.key]) }}</template>
                <a v-if="column.kind === 'mono' && href(row, column) !== row.href" class="aside" :href="href(row, column)" @click.stop>{{ row[column.key + "_link"] }}</a>
              </td>
            </tr>
          </tbody>
        </table>
      </div>
      <div v-if="isCut || hasMore" class="table-more">
        <span>{{ number(shown.length) }} of {{ number(current.length) }}{{ hasMore ? "+" : "" }}</span>
        <button type="button" class="plain" @click="more">Show more</button>
        <button v-if="isCut && !hasMore" type="button" class="plain" @click="shownRows = Infinity">Show all</button>
      </div>
    </div>`,
};
