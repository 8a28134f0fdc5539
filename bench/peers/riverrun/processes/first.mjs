export const config = { concurrency: 256, step: 'chain', emits: ['first.done'] }

export default async (input, ctx) => ctx.emit({ type: 'first.done', data: input })
