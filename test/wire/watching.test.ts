import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, keyIn, root, runProgram } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

const rules = join(root, 'deploy/prometheus/svc.rules.yml')
const dashboard = join(root, 'deploy/grafana/svc.json')

/** Every name of a metric of ours in a text; those that a pattern stands for, by the pattern. */
const namesIn = (text: string): { names: string[]; patterns: RegExp[] } => {
  const patterns = [...text.matchAll(/__name__[=!]~\\?"([^"\\]+)\\?"/g)].map(
    ([, pattern = '']) => new RegExp(`^${pattern}$`),
  )
  const names = text.replaceAll(/__name__[=!]~\\?"[^"]+"/g, '').match(/\bsvc_[a-z0-9_]+/g) ?? []
  return { names: [...new Set(names)], patterns }
}

/** Without what a histogram adds to its name. */
const familyOf = (name: string): string => name.replace(/_(?:bucket|sum|count)$/, '')

describe('what watches the service', { timeout: 60_000 }, () => {
  let service: LoneService
  let shown: string
  let families: Set<string>
  before(async () => {
    service = await startLoneService('watching')
    const credential = keyIn(service.dataDir, 'health-token.txt')
    shown = (await ask(service.address, { path: '/health/metrics', credential })).text
    families = new Set([...shown.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name))
  })
  after(() => service[Symbol.asyncDispose]())

  const isThere = (text: string): void => {
    const { names, patterns } = namesIn(text)
    const missing = names.filter((name) => !families.has(name) && !families.has(familyOf(name)))
    assert.deepEqual(missing, [])
    for (const pattern of patterns)
      assert.ok([...families].filter((name) => pattern.test(name)).length > 0, `${pattern}`)
  }

  test('the rules are understood by Prometheus, and fire when they should and only then', async () => {
    for (const args of [
      ['check', 'rules', rules],
      ['test', 'rules', rules.replace('.yml', '.test.yml')],
    ]) {
      const { code, stdout, stderr } = await runProgram('promtool', args)
      assert.equal(code, 0, stdout + stderr)
    }
    const alerts = readFileSync(rules, 'utf8').match(/alert: \w+/g) ?? []
    const tried = readFileSync(rules.replace('.yml', '.test.yml'), 'utf8')
    for (const alert of alerts) {
      const times = tried.split(new RegExp(`alertname: ${alert.slice('alert: '.length)}\\b`)).length - 1
      assert.equal(times, 2, `${alert} is not tried for silence and for sound`)
    }
  })

  test('the rules and the dashboard name only metrics that the service shows', () => {
    isThere(readFileSync(rules, 'utf8'))
    isThere(readFileSync(dashboard, 'utf8'))
    assert.throws(() => isThere('rate(svc_no_such_metric_total[5m])'))
  })

  test('each metric that they name is explained', () => {
    const pages = globSync(join(root, 'docs/operating/*.md')).map((page) => readFileSync(page, 'utf8'))
    const text = pages.join('\n')
    const used = [rules, dashboard].flatMap((file) => namesIn(readFileSync(file, 'utf8')).names.map(familyOf))
    const silent = [...new Set(used)].filter((name) => !text.includes(name) && !explainedByItsClass(name, text))
    assert.deepEqual(silent, [])
  })

  test('each alert has its line in the page, and the page has no other', () => {
    const page = readFileSync(join(root, 'docs/operating/scraping.md'), 'utf8')
    const alerts = (readFileSync(rules, 'utf8').match(/(?<=alert: )\w+/g) ?? []).sort()
    const told = [...page.matchAll(/^\| `(Svc\w+)` \|/gm)].map(([, name = '']) => name).sort()
    assert.deepEqual(told, alerts)
  })

  test('what is scraped is what Prometheus reads', async () => {
    const said = await runProgram('bash', ['-c', 'promtool check metrics <<< "$1"', 'check', shown])
    assert.doesNotMatch(said.stderr, /error while linting|parsing error/, said.stderr)
  })

  test('the dashboard has panels that do not lie on one another, each with a title of its own', () => {
    const { panels } = JSON.parse(readFileSync(dashboard, 'utf8'))
    const places = panels.map(({ gridPos }: { gridPos: { x: number; y: number } }) => `${gridPos.x} ${gridPos.y}`)
    const titles = panels.map(({ title }: { title: string }) => title)
    for (const list of [places, titles]) assert.equal(new Set(list).size, panels.length)
  })
})

/** `svc_download_bytes_bulk_total` stands in the page as `…_bulk_total` behind the first of its kind. */
const explainedByItsClass = (name: string, text: string): boolean =>
  [...name.matchAll(/_/g)].some(({ index }) => text.includes(`…${name.slice(index)}`))
