import assert from 'node:assert/strict'
import { it } from 'node:test'
import { asText, sections, sentence } from './front-page.ts'

it('the front page tells how to push an image where clients of images find the service, and not below a path', () => {
  const told = (baseUrl: string): string => asText(sentence(baseUrl), sections(baseUrl, true), baseUrl)
  assert.match(told('https://example.org'), /docker push example\.org\/releases\/hello:1\.0/)
  assert.match(told('http://127.0.0.1:8080'), /docker push 127\.0\.0\.1:8080\/releases\//)
  assert.doesNotMatch(told('https://example.org/svc'), /docker/)
})
