import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { describe, test } from 'node:test'
import {
  handlersWithOtherNames,
  longerThan,
  missingPaths,
  type Page,
  unitsDefinedAgain,
  widerComments,
} from '../../scripts/check/house.ts'
import { forbiddenNames, namesAwayFromHome } from '../../scripts/check/words.ts'

/** Style is a test: what the house promises about its files, and no tool at hand checks. */

const settingNames = 'src/main/settings/names.ts'
const longestFileLines = 400
const longestMedianLines = 65
const longestIntegrationTestLines = 500
const widestCommentColumns = 120

const read = (path: string): string => readFileSync(path, 'utf8')
const pageAt = (path: string): Page => ({ path, text: read(path) })
const lineCount = (path: string): number => read(path).split('\n').length - 1

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && existsSync(path))
const sources = tracked.filter((path) => path.startsWith('src/') && path.endsWith('.ts'))
const code = tracked.filter((path) => /^(?:src|test|bench|scripts)\/.*\.(?:ts|mjs)$/.test(path))
const pages = tracked.filter((path) => path.endsWith('.md') && (!path.includes('/') || path.startsWith('docs/')))

/** Where a pattern stands, as `path:line text`. This file spells the patterns and is left out. */
const findings = (paths: string[], pattern: RegExp): string[] =>
  paths
    .filter((path) => path !== 'test/tidy/tidy.test.ts')
    .flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
    )

const none = (found: string[], rule: string): void => {
  assert.equal(found.length, 0, `${rule}\n  ${found.join('\n  ')}`)
}

describe('Node', () => {
  test('is told the same in the image of a container, and by systemd, as by npm start', () => {
    const [, flags = ''] = /"start": "exec node (.*?) ?src/.exec(read('package.json')) ?? []
    const [, inImage] = /"\/usr\/bin\/node", (.*?)(?:, )?"dist/.exec(read('deploy/container/Containerfile')) ?? []
    const [, inUnit] = /bin\/node (.*?) ?src/.exec(read('deploy/systemd/svc.service')) ?? []
    assert.equal(inUnit, flags)
    assert.equal(inImage, `"${flags}"`)
  })
})

describe('files', () => {
  test('are short: none in src above 400 lines, half of them below 65', () => {
    none(longerThan(longestFileLines, sources.map(pageAt)), 'Split these:')
    const counts = sources.map(lineCount).sort((one, other) => one - other)
    const median = counts[Math.floor(counts.length / 2)] ?? 0
    assert.ok(median < longestMedianLines, `The median file in src has ${median} lines.`)
  })

  test('of integration tests prove one thing each, in 500 lines at most', () => {
    const integration = code.filter((path) => path.startsWith('test/integration/'))
    none(longerThan(longestIntegrationTestLines, integration.map(pageAt)), 'Divide these by what they prove:')
  })

  test('have comments of at most 120 columns', () => {
    none(widerComments(widestCommentColumns, code.map(pageAt)), 'Wrap these comments:')
  })

  test('with handlers bind operations by their ids', () => {
    const handlers = sources.filter((path) => basename(path) === 'handlers.ts')
    none(handlersWithOtherNames(handlers.map(pageAt)), 'Say operations.<id>, with no other name for it:')
  })

  test('take bytes and milliseconds from kernel/units.ts', () => {
    // Wire tests import nothing from src.
    const others = code.filter((path) => path !== 'src/kernel/units.ts' && !path.startsWith('test/wire/'))
    none(unitsDefinedAgain(others.map(pageAt)), 'Import these units:')
  })

  test('of a slice are reached by the one list of slices', () => {
    const listed = new Set(
      [...read('src/main/slices.ts').matchAll(/from '\.\.\/((?:features|protocols)\/[^']+)\/slice\.ts'/g)].map(
        ([, folder]) => `src/${folder}`,
      ),
    )
    const declaring = sources.filter((path) => basename(path) === 'operations.ts').map(dirname)
    none(
      declaring.filter((folder) => !listed.has(folder)),
      'These declare operations and are not in src/main/slices.ts:',
    )
  })

  test('have kebab-case names that say what they hold', () => {
    const name = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:queries|suite|test))*\.(?:ts|mjs)$/
    none(
      code.filter((path) => !name.test(basename(path))),
      'Not kebab-case, or an unknown suffix:',
    )
    const empty = /(?:^|[-/.])(?:utils?|utilities|helpers?|managers?|misc|common)(?:[-/.]|$)/
    none(
      code.filter((path) => empty.test(path)),
      'Names that say nothing:',
    )
  })

  test('use one word for one thing, in names and in what they are called', () => {
    none(
      code
        .filter((path) => path.endsWith('.ts') && !path.startsWith('scripts/'))
        .flatMap((path) => [
          ...forbiddenNames(read(path)).map((found) => `${path}:${found}`),
          ...forbiddenNames(basename(path).replaceAll(/[-.]/g, ' ')).map((found) => `${path}: ${found}`),
        ]),
      'These words mean several things, or nothing to a newcomer (docs/reference/words.md):',
    )
    none(
      sources
        .filter((path) => !path.endsWith('.test.ts'))
        .flatMap((path) => namesAwayFromHome(path, read(path)).map((found) => `${path}:${found}`)),
      'These words mean something else (docs/reference/words.md):',
    )
  })

  test('in src have no default exports', () => {
    none(findings(sources, /^\s*export default\b|\bas default\b/), 'Export by name:')
  })

  test('hold no unfinished business', () => {
    none(findings(code, /\b(?:TODO|FIXME|XXX)\b/), 'Do it, or write it down where it is seen:')
  })

  test('skip no test', () => {
    const skipping = /\b(?:test|it|describe|suite|t)\.(?:only|skip|todo)\b|[{,]\s*(?:only|skip|todo):/
    none(
      findings(
        code.filter((path) => /\.(?:test|suite)\.ts$/.test(path)),
        skipping,
      ),
      'A test that cannot run must fail and say what it needs:',
    )
  })

  test('hold no private key', () => {
    none(findings(tracked, /-----BEGIN [A-Z ]*PRIVATE KEY-----/), 'A key that others can read is none:')
    none(
      tracked.filter((path) => /\.(?:pem|key|p12|jks)$/.test(path)),
      'Looks like a key, and lies in the checkout:',
    )
  })

  test('name no place on one machine and no private package host', () => {
    const places = /(?<![\w.~-])\/(?:home|Users|root|work)\/[\w.-]+/
    none(
      findings(
        tracked.filter((path) => path !== 'package-lock.json' && !/\.(?:png|ico|woff2|gz|zst|tgz)$/.test(path)),
        places,
      ),
      'Paths that exist on one machine:',
    )
    const hosts = [...read('package-lock.json').matchAll(/"resolved": "(https?:\/\/[^/"]+)/g)].map((match) => match[1])
    none(
      [...new Set(hosts)].filter((host) => host !== 'https://registry.npmjs.org').map(String),
      'package-lock.json names these hosts besides the public registry:',
    )
  })
})

describe('documents', () => {
  /** The anchors of a page, as they are made from its headings. */
  const anchors = (page: string): string[] => [
    ...[...read(page).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
    ...[...read(page).matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name = '']) => name),
  ]

  const withoutCode = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')

  test('link only to what is there', () => {
    const dead = pages.flatMap((page) =>
      [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].flatMap(([, target = '']) => {
        if (/^[a-z][a-z0-9+.-]*:/.test(target)) return []
        const [path = '', anchor] = target.split('#')
        const file = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)))
        if (!existsSync(file)) return [`${page}: ${target} does not exist`]
        if (anchor === undefined || !file.endsWith('.md') || anchors(file).includes(anchor)) return []
        return [`${page}: ${target} has no such heading`]
      }),
    )
    none(dead, 'Dead links:')
  })

  test('of the house name only files and folders that are there', () => {
    const missing = ['ARCHITECTURE.md', 'CONTRIBUTING.md'].flatMap((page) =>
      missingPaths(read(page), tracked).map((path) => `${page}: ${path}`),
    )
    none(missing, 'Not there:')
  })

  test('set the variables that their commands use', () => {
    const given = new Set(['HOME', 'PATH', 'PWD'])
    const unset = pages
      .filter((page) => !page.startsWith('docs/decisions/') && page !== 'CONTRIBUTING.md')
      .flatMap((page) => {
        const commands = [...read(page).matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block).join('')
        const set = new Set(
          [...commands.matchAll(/\b([A-Z][A-Z0-9_]*)=|\bfor ([A-Z]\w*) in/g)].map(([, name, each]) => name ?? each),
        )
        const used = [...commands.matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name)
        return used.filter((name) => !set.has(name) && !given.has(name)).map((name) => `${page}: ${name}`)
      })
    none([...new Set(unset)], 'Whoever pastes these has nothing there:')
  })

  test('every decision has its number, its context, its choice and its consequence', () => {
    const decisions = pages
      .filter((page) => page.startsWith('docs/decisions/') && basename(page) !== 'README.md')
      .sort()
    assert.ok(decisions.length > 0, 'docs/decisions/ is empty.')
    decisions.forEach((page, index) => {
      assert.equal(
        basename(page).slice(0, 5),
        `${String(index + 1).padStart(4, '0')}-`,
        `${page}: numbers run from 0001 without gaps`,
      )
      const headings = [...read(page).matchAll(/^## (.+)$/gm)].map((match) => match[1])
      assert.deepEqual(headings, ['Context', 'Choice', 'Consequence'], `${page}: these headings, in this order`)
    })
  })

  test('name only settings that exist', () => {
    if (!existsSync(settingNames)) return
    const known = new Set(read(settingNames).match(/\bSVC_[A-Z0-9_]+/g))
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/\bSVC_[A-Z0-9_]*[A-Z0-9]\b/g)].map(([name]) => ({ page, name })),
    )
    none(
      named
        .filter(({ name }) => !known.has(name) && !name.startsWith('SVC_TEST_'))
        .map(({ page, name }) => `${page}: ${name}`),
      `Not in ${settingNames}:`,
    )
  })
})
