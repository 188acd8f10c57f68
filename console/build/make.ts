import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { overBudget, sizesOf } from './budget.ts'
import { mantineVariables } from './mantine-variables.ts'
import { compiledWords } from './words.ts'

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
}

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** What is compressed already would only grow. */
const compressed = new Set(['.woff2'])

const codedOf = async (path: string, bytes: Buffer): Promise<Record<string, Buffer>> => {
  if (compressed.has(extname(path))) return { identity: bytes }
  const [br, gz] = await Promise.all([
    brotli(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
    zip(bytes, { level: 9 }),
  ])
  return { br, gzip: gz, identity: bytes }
}

const endings: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz', identity: '' }

const bundle = async (source: string): Promise<Rolldown.RolldownOutput['output']> => {
  const built = await build({
    configFile: false,
    root: source,
    base: './',
    logLevel: 'warn',
    plugins: [mantineVariables(), compiledWords(join(source, 'src/words'))],
    oxc: { jsx: { runtime: 'automatic' } },
    define: { 'process.env.NODE_ENV': '"production"' },
    worker: { format: 'es' },
    build: {
      write: false,
      target: 'es2022',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 2000,
      rolldownOptions: {
        // Packages that are for servers as well say in each file that it is for browsers.
        onwarn: (warning, warn) => {
          if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning)
        },
      },
    },
  })
  const [first] = Array.isArray(built) ? built : [built]
  if (first === undefined || !('output' in first)) throw new Error('Vite built nothing')
  return first.output
}

/**
 * Builds the console into a folder: each file as it is, and compressed beside it, with a list of them. Throws, and
 * leaves what was there, when more has to be sent than the budget allows.
 */
export const makeConsole = async (
  source: string,
  folder: string,
  others: Readonly<Record<string, string>>,
): Promise<void> => {
  const started = performance.now()
  const next = `${folder}.new`
  rmSync(next, { recursive: true, force: true })
  const output = await bundle(source)
  const list: Record<string, { mediaType: string; codings: string[] }> = {}
  const sent = new Map<string, number>()
  await Promise.all(
    output.map(async (file) => {
      const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source)
      const coded = await codedOf(file.fileName, bytes)
      mkdirSync(dirname(join(next, file.fileName)), { recursive: true })
      for (const [coding, each] of Object.entries(coded))
        writeFileSync(join(next, file.fileName + (endings[coding] ?? '')), each)
      list[file.fileName] = {
        mediaType: mediaTypes[extname(file.fileName)] ?? 'application/octet-stream',
        codings: Object.keys(coded),
      }
      sent.set(file.fileName, (coded['br'] ?? bytes).length)
    }),
  )
  const sizes = sizesOf(output, sent)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(
    `The console, built in ${seconds} s: ${sizes.map(({ what, bytes }) => `${what} ${(bytes / 1024).toFixed(1)} KiB`).join(', ')}`,
  )
  const over = overBudget(sizes)
  if (over.length > 0) throw new Error(`The console is larger than its budget: ${over.join('; ')}`)
  writeFileSync(join(next, 'files.json'), JSON.stringify(list))
  for (const [name, text] of Object.entries(others)) writeFileSync(join(next, name), text)
  rmSync(folder, { recursive: true, force: true })
  renameSync(next, folder)
}
