import { runSteps } from './check/steps.ts'

const failed = (await runSteps()).filter((step) => !step.passed).map((step) => step.name)
if (failed.length > 0) {
  console.log(`The check failed: ${failed.join(', ')}. One step alone: npm run check:${failed[0]}`)
  process.exitCode = 1
}
