#!/usr/bin/env node
import { widenThreadPool } from './thread-pool.ts'

widenThreadPool(process.env)
// Only now: what is loaded may use the pool.
const { main } = await import('./commands/main.ts')
await main(process.argv)
