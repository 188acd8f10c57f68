import { cpSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildSync } from 'esbuild'
import { buildConsole } from './build-console.ts'

const root = resolve(import.meta.dirname, '..')

/** The program, and what it runs in threads of its own, which it looks for beside itself. */
const programs = [
  'src/main/svc.ts',
  'src/database/sqlite/log-thread.ts',
  'src/content/hashing/hash-thread.ts',
  'src/main/webhooks/carrier-thread.ts',
]

/**
 * Makes of the sources, and of the packages that they use, the few files of `<folder>/main`: a process that need not
 * look for a thousand modules starts in a third of the time. Stack traces name the sources. Replaces what was built
 * there before; answers where it lies. `others` are programs beside it, with what they have in common as common files.
 */
export const buildProgram = (folder: string, others: readonly string[] = []): string => {
  const outdir = join(folder, 'main')
  rmSync(outdir, { recursive: true, force: true })
  buildSync({
    absWorkingDir: root,
    entryPoints: [...programs, ...others],
    outdir,
    entryNames: '[name]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'linked',
    // An addition to `pg` that nobody has to have.
    external: ['pg-native'],
    // Packages of the older kind ask for modules of Node so.
    banner: { js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)" },
    logLevel: 'warning',
  })
  return outdir
}

/** Both as they are published: the program, and the console beside it. */
export const buildAll = async (folder: string, others: readonly string[] = []): Promise<string> => {
  const console = await buildConsole()
  const outdir = buildProgram(folder, others)
  if (console !== null && console !== join(folder, 'console'))
    cpSync(console, join(folder, 'console'), { recursive: true })
  return outdir
}

// `npm run build`, or `npm run build -- <folder>`.
if (import.meta.main) await buildAll(resolve(process.argv[2] ?? join(root, 'dist')))
