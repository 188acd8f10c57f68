import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fingerprint } from '../console/build/fingerprint.ts'

const root = resolve(import.meta.dirname, '..')
const folder = join(root, 'dist/console')
const markPath = join(folder, 'built-from.txt')

/**
 * Makes of `console/` the files in `dist/console` that the service serves, unless they were made of the very same
 * sources. `npm ci` comes by here (`prepare`), so that a fresh clone has them without another step. Answers where they
 * lie. Where the packages that build it were left out (`--omit=dev`) it says so and goes on: the service is whole
 * without it.
 */
export const buildConsole = async (): Promise<string | null> => {
  const from = fingerprint(root)
  if (existsSync(markPath) && readFileSync(markPath, 'utf8') === from) return folder
  if (!existsSync(join(root, 'node_modules/vite'))) {
    console.log('The console was not built: the packages that build it are not installed.')
    return null
  }
  const { makeConsole } = await import('../console/build/make.ts')
  await makeConsole(join(root, 'console'), folder, { 'built-from.txt': from })
  return folder
}

if (import.meta.main) await buildConsole()
