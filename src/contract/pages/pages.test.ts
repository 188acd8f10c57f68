import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { html } from './markup.ts'
import { page, pathAt } from './page.ts'
import { wantsHtml } from './wants-html.ts'

describe('a page', () => {
  it('shows markup that came from elsewhere, and obeys none of it', () => {
    const evil = `<img src=x onerror="alert('1')">&amp;`
    const shown = '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;'
    assert.equal(html`<p title="${evil}">${evil}</p>`.markup, `<p title="${shown}">${shown}</p>`)
    const items = [evil, 'b'].map((each) => html`<li>${each}</li>`)
    assert.equal(html`<ul>${items}</ul>`.markup, `<ul><li>${shown}</li>\n<li>b</li></ul>`)
    assert.ok(page({ title: evil, baseUrl: 'http://a', body: html`` }).text.includes(`<title>${shown}</title>`))
  })

  it('shows what would turn or hide a text as its code, and keeps lines', () => {
    assert.equal(html`<td>${'a\u202egpj.exe\u2066\nb'}</td>`.markup, '<td>a\\u202egpj.exe\\u2066\nb</td>')
  })

  it('leads to places below the path of the service', () => {
    assert.equal(pathAt('https://example.org/svc', '/health/status'), '/svc/health/status')
    assert.equal(pathAt('https://example.org', '/'), '/')
    assert.equal(pathAt('https://example.org/svc/', '/'), '/svc/')
  })

  it('is for clients that name HTML and want no JSON more', () => {
    for (const accept of [
      'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
      'TEXT/HTML',
      'application/json, text/html',
      'application/json;q=0.5, text/html;q=0.6',
    ])
      assert.ok(wantsHtml(accept), accept)
    for (const accept of [
      undefined,
      '',
      '*/*',
      'text/*',
      'application/json',
      'text/html;q=0',
      'application/json, text/html;q=0.9',
      'application/problem+json, text/html; q=0.5',
      'text/htmlx',
    ])
      assert.ok(!wantsHtml(accept), String(accept))
  })
})
