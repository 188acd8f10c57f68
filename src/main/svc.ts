#!/usr/bin/env node
import { widenThreadPool } from './thread-pool.ts'

widenThreadPool(process.env)
// As it is published it is few files: its errors shall name the sources all the same.
if (import.meta.filename.endsWith('.js')) process.setSourceMapsEnabled(true)
// Only now: what is loaded may use the pool.
const { main } = await import('./commands/main.ts')
await main(process.argv)
