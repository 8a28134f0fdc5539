export const config = { concurrency: 256, step: 'code' }

export default async (input, ctx) => {
  const a = await ctx.run('a', () => 1)
  const b = await ctx.run('b', () => a + 1)
  return ctx.run('c', () => b + 1)
}
