// Drives posthog-node: arguments are host, project token, personal key; prints what went wrong.
import { PostHog } from "posthog-node";

const [host, token, key] = process.argv.slice(2);
const errors = [];
const client = new PostHog(token, { host, personalApiKey: key, flushAt: 20 });
client.on("error", (error) => errors.push(String(error)));
for (let number = 0; number < 30; number++) {
  client.capture({
    distinctId: "node-user",
    event: "node_event",
    properties: { number },
    groups: { company: "acme" },
  });
}
client.identify({ distinctId: "node-user", properties: { plan: "paid" } });
client.alias({ distinctId: "node-user", alias: "node-anonymous" });
client.groupIdentify({ groupType: "company", groupKey: "acme", properties: { name: "Acme" } });
const flags = await client.getAllFlags("node-user");
await client.shutdown(30000);
console.log(JSON.stringify({ errors, flags }));
