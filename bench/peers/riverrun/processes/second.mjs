export const config = { concurrency: 256, step: 'second', subscriptions: [{ eventKind: 'first.done' }], emits: ['second.done'] }

export default async (input, ctx) => ctx.emit({ type: 'second.done', data: input })
