export const config = { concurrency: 256, step: 'third', subscriptions: [{ eventKind: 'second.done' }] }

export default async (input) => input
