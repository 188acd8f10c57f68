// Runs before the scripts of package.json. Plain JavaScript, old syntax: it must speak on every version that is too
// old.
import { readFileSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const needed = engines.node.replace('>=', '')
const [major, minor] = process.versions.node.split('.').map(Number)
const [neededMajor, neededMinor] = needed.split('.').map(Number)

if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
  console.error(
    `svc needs Node ${needed} or newer; this is Node ${process.versions.node} (${process.execPath}).\n` +
      'Run `npm ci` and start through npm (`npm test`, `npm start`): it uses the Node that the project pins.\n' +
      'If you did, the install script of the package `node` was not allowed to run; install with `npm ci` without --ignore-scripts.',
  )
  process.exit(1)
}
