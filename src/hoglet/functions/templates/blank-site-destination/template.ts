export async function onLoad({ inputs, posthog }) {
    // Runs once, when the page has loaded.
    console.log('Loaded', inputs.name, 'for', inputs.userId)
}

export function onEvent({ inputs, posthog, ...globals }) {
    // Runs for every matching event.
    console.log('Event', globals.event.event, inputs)
}
