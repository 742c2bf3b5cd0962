// Tables and their columns; a click on a name emits the text to insert.
export default {
  props: { tables: Array },
  emits: ["insert"],
  data() {
    return { needle: "" };
  },
  computed: {
    shown() {
      const needle = this.needle.trim().toLowerCase();
      if (!needle) return this.tables.map((table) => ({ ...table, open: false }));
      return this.tables
        .map((table) => {
          const isNamed = table.name.toLowerCase().includes(needle);
          const fields = isNamed
            ? table.fields
            : table.fields.filter((field) => field.name.toLowerCase().includes(needle));
          return { ...table, fields, open: !isNamed };
        })
        .filter((table) => table.fields.length);
    },
  },
  template: `
    <div class="schema-tree">
      <input v-model="needle" type="search" placeholder="Find a column" aria-label="Find a column">
      <details v-for="table in shown" :key="table.name" :open="table.open">
        <summary>{{ table.name }}</summary>
        <ul><li v-for="field in table.fields" :key="field.name">
          <button type="button" :title="'Insert ' + field.text" @click="$emit('insert', field.text)">
            <span>{{ field.name }}</span><span class="muted">{{ field.type }}</span>
          </button>
        </li></ul>
      </details>
    </div>`,
};
