import { counted } from '../../handler.mjs'

export const config = { concurrency: 256 }

export default async () => counted()
