export function onLoad({ inputs, posthog }) {
    console.log(`Loaded ${inputs.name}`)
}
