import { counted } from '../../tell.mjs'

export const config = { concurrency: 256 }

export default async () => counted()
