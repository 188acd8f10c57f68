import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from './processes.ts'

/*
 * git and git-lfs as Debian has them, at machines of several people: each has a home with settings and credentials of
 * its own. Git repositories are folders; what is large in them is at an address of Git LFS.
 */

/** Somebody at a machine. */
export interface GitDesk extends AsyncDisposable {
  readonly home: string
  /** Runs git in a folder; fails the test, with what it said, when git fails. Answers all that it said. */
  git(folder: string, ...args: string[]): Promise<string>
  /** The same where it has to fail. */
  fails(folder: string, ...args: string[]): Promise<string>
  /** A clone in the home, by a name: its folder. */
  clone(remote: string, name: string): Promise<string>
  /** Commits these files in a folder. */
  commit(folder: string, files: Readonly<Record<string, Uint8Array | string>>): Promise<void>
  /** Takes this as the password for an address, beside those for others. */
  keepPassword(address: string, password: string): Promise<void>
  /** What a shell needs so that its git is at this desk. */
  readonly environment: Readonly<Record<string, string>>
}

const settings = (home: string): string =>
  [
    '[user]\nname = somebody\nemail = somebody@example.org',
    '[init]\ndefaultBranch = main',
    '[advice]\ndetachedHead = false',
    '[gc]\nauto = 0',
    `[credential]\nhelper = store --file ${join(home, 'credentials')}`,
    '',
  ].join('\n')

/** `name` is in the name of the home; `more` is what git is told by its environment beside. */
export const sitDownWithGit = async (name: string, more: Readonly<Record<string, string>> = {}): Promise<GitDesk> => {
  const home = await mkdtemp(join(tmpdir(), `svc-git-${name}-`))
  await writeFile(join(home, '.gitconfig'), settings(home))
  const environment = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LFS_FORCE_PROGRESS: '0',
    LC_ALL: 'C.UTF-8',
    NO_PROXY: '127.0.0.1',
    ...more,
  }
  const ask = async (cwd: string, args: readonly string[]) => {
    const { code, stdout, stderr } = await runProgram('git', args, environment, { cwd })
    return { code, said: `${stdout}${stderr}`.trim(), inWords: `git ${args.join(' ')}\n${stdout}${stderr}` }
  }
  const git: GitDesk['git'] = async (folder, ...args) => {
    const { code, said, inWords } = await ask(folder, args)
    assert.equal(code, 0, inWords)
    return said
  }
  await git(home, 'lfs', 'install')
  return {
    home,
    environment,
    git,
    async fails(folder, ...args) {
      const { code, said, inWords } = await ask(folder, args)
      assert.notEqual(code, 0, inWords)
      return said
    },
    async clone(remote, into) {
      await git(home, 'clone', '--quiet', remote, into)
      return join(home, into)
    },
    async commit(folder, files) {
      for (const [path, bytes] of Object.entries(files)) {
        await mkdir(join(folder, path, '..'), { recursive: true })
        await writeFile(join(folder, path), bytes)
      }
      await git(folder, 'add', '--all')
      await git(folder, 'commit', '--quiet', '-m', `${Object.keys(files).length} files`)
    },
    async keepPassword(address, password) {
      const { host } = new URL(address)
      const line = `http://anybody:${password}@${host.replace(':', '%3a')}\n`
      await writeFile(join(home, 'credentials'), line, { flag: 'a' })
    },
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  }
}

/** An empty Git repository with one commit that says where its large files are: its folder, for clones. */
export const newGitRemote = async (desk: GitDesk, name: string, lfsAddress: string): Promise<string> => {
  const remote = join(desk.home, `${name}.git`)
  await desk.git(desk.home, 'init', '--quiet', '--bare', remote)
  const folder = await desk.clone(remote, `first-${name}`)
  await desk.git(folder, 'config', '-f', '.lfsconfig', 'lfs.url', lfsAddress)
  await desk.git(folder, 'lfs', 'track', '*.bin')
  await desk.commit(folder, {})
  await desk.git(folder, 'push', '--quiet', 'origin', 'main')
  await rm(folder, { recursive: true })
  return remote
}
