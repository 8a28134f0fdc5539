import { began } from '../../handler.mjs'

export const config = { concurrency: 256 }

export default async (input) => began(input.sent)
