import { execFileSync, spawnSync } from 'node:child_process'
import { accessSync, constants, rmSync, writeFileSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** What the tests need beside npm's packages, by a program, or a file, that each of Debian's packages brings. */
const packages: Readonly<Record<string, string>> = {
  'ceph-mon': 'ceph-mon',
  'ceph-osd': 'ceph-osd',
  radosgw: 'radosgw',
  'radosgw-admin': 'radosgw',
  ceph: 'ceph-common',
  'ceph-authtool': 'ceph-common',
  curl: 'curl',
  python3: 'python3',
  go: 'golang-go',
  openssl: 'openssl',
  zip: 'zip',
  cc: 'gcc',
  '/usr/include/stdio.h': 'libc6-dev',
  nginx: 'nginx',
  caddy: 'caddy',
  promtool: 'prometheus',
  buildah: 'buildah',
  chromium: 'chromium',
  ctr: 'containerd',
  podman: 'podman',
  skopeo: 'skopeo',
  'systemd-analyze': 'systemd',
  git: 'git',
  'git-lfs': 'git-lfs',
  age: 'age',
  zstd: 'zstd',
  jq: 'jq',
}

const isThere = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

const isInstalled = (name: string): boolean =>
  isAbsolute(name)
    ? isThere(name, constants.R_OK)
    : (process.env['PATH'] ?? '').split(delimiter).some((folder) => isThere(join(folder, name), constants.X_OK))

const missingPackages = (): string[] => [
  ...new Set(
    Object.entries(packages)
      .filter(([program]) => !isInstalled(program))
      .map(([, name]) => name),
  ),
]

/** Another apt-get may be at work on a machine that has just started. */
const waiting = ['-o', 'DPkg::Lock::Timeout=300']

const apt = (...args: string[]): void => {
  execFileSync('apt-get', [...waiting, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
}

/** Debian asks this program whether a package may start what it brings. */
const policy = '/usr/sbin/policy-rc.d'

/** Some packages bring servers, which tests start for themselves: nothing is to listen on this machine from now on. */
const startingNothing = (work: () => void): void => {
  const isOurs = !isThere(policy, constants.F_OK)
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    work()
  } finally {
    if (isOurs) rmSync(policy)
  }
}

/** Installs what is missing, as root on Debian and its like. Throws a sentence that says what to do anywhere else. */
export const installTestPackages = (): void => {
  const missing = missingPackages()
  if (missing.length === 0) return
  const by = `apt-get install --no-install-recommends ${missing.join(' ')}`
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0)
    throw new Error(
      `The tests need a real object store, what the guide uses, and what the files of deploy/ are for. Install it first, as root: ${by}`,
    )
  console.log(`Installing what the tests need: ${missing.join(', ')}`)
  const install = ['install', '-y', '-q', '--no-install-recommends', ...missing]
  startingNothing(() => {
    try {
      apt(...install)
    } catch {
      // A machine that has never asked knows no packages, or old ones.
      apt('update', '-q')
      apt(...install)
    }
  })
  const still = missingPackages()
  if (still.length > 0) throw new Error(`${still.join(', ')} did not install; try by hand: ${by}`)
}
