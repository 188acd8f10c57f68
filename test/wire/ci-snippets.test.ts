import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, ownService, root, runSvc, startProgram } from '../harness/processes.ts'
import { scriptsOfGitHub, scriptsOfGitLab } from './ci-scripts.ts'

endProgramsAfterTests()

/** What each system would run, each text in a shell of its own. */
const scripts: Readonly<Record<string, (text: string) => string[]>> = {
  'github-actions.yml': scriptsOfGitHub,
  'gitlab-ci.yml': scriptsOfGitLab,
  Jenkinsfile: (text) => [...text.matchAll(/sh '''(.*?)'''/gs)].map(([, script = '']) => script),
}

describe('the snippets for build servers', { timeout: 60_000 }, () => {
  let service: LoneService
  let environment: Record<string, string>
  before(async () => {
    service = await startLoneService('ci')
    const settings = { ...service.settings, ...ownService(service.address) }
    const page = readFileSync(join(root, 'docs/operating/ci.md'), 'utf8')
    const printed: string[] = []
    for (const [, command = ''] of page.matchAll(/^svc (.+)$/gm)) {
      const { code, stdout, stderr } = await runSvc(command.split(' '), settings)
      assert.equal(code, 0, `${command}\n${stdout}${stderr}`)
      printed.push(stdout)
    }
    const [, SVC_TOKEN = ''] = /(\S{32,})/.exec(printed.at(-1) ?? '') ?? []
    environment = { SVC_URL: service.address, SVC_TOKEN }
  })
  after(() => service[Symbol.asyncDispose]())

  for (const [file, read] of Object.entries(scripts))
    test(`${file} pushes a file and pulls the same`, async () => {
      const text = readFileSync(join(root, 'deploy/ci', file), 'utf8')
      const lines = read(text)
      assert.equal(lines.length, 3, text)
      const cwd = join(service.folder, file)
      await mkdir(cwd)
      for (const line of lines) {
        // As GitHub starts it; the others are no stricter.
        const shell = startProgram('bash', ['-e', '-c', line], { ...environment, VERSION: file }, { cwd })
        assert.equal((await shell.ended).code, 0, `${line}\n${shell.stdout()}${shell.stderr()}`)
      }
      assert.equal(readFileSync(join(cwd, 'app.txt'), 'utf8'), `build ${file}\n`)
      assert.match(text, /secrets\.SVC_TOKEN|masked|credentials\('svc-token'\)/)
    })

  test('a wrong credential ends the job', async () => {
    const [, push = ''] =
      scripts['github-actions.yml']?.(readFileSync(join(root, 'deploy/ci/github-actions.yml'), 'utf8')) ?? []
    const wrong = { ...environment, SVC_TOKEN: 'wrong', VERSION: 'wrong' }
    const shell = startProgram('bash', ['-e', '-c', push], wrong, { cwd: join(service.folder, 'github-actions.yml') })
    assert.notEqual((await shell.ended).code, 0)
    assert.match(shell.stderr(), /401/)
  })
})
