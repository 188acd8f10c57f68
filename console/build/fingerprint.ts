import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Says of what the console would be built: its sources, what builds them and the packages that they use. */
export const fingerprint = (root: string): string => {
  const files = globSync(
    [
      'console/index.html',
      'console/package.json',
      'console/src/**/*',
      'console/build/*.ts',
      'scripts/build-console.ts',
    ],
    {
      cwd: root,
      withFileTypes: true,
    },
  )
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file.slice(root.length)}\n`).update(readFileSync(file))
  const { packages }: { packages: Record<string, { version?: string }> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  for (const [path, { version }] of Object.entries(packages)) hash.update(`${path} ${version}\n`)
  return `${hash.digest('hex')}\n`
}
