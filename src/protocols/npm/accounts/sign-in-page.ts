import { html, type Markup } from '../../../contract/pages/markup.ts'
import { page } from '../../../contract/pages/page.ts'

interface Shown {
  readonly baseUrl: string
  /** Where the client is that waits. */
  readonly from: string
}

const told = (baseUrl: string, title: string, body: Markup, form: boolean) => ({
  ...page({ title, baseUrl, body: html`<h1>${title}</h1>\n${body}`, form }),
})

/** Asks who it is. `wrong` says why the last try did not do. */
export const signInPage = ({ baseUrl, from }: Shown, wrong: string | null = null) =>
  told(
    baseUrl,
    'Sign in for npm',
    html`<p>A program at <strong>${from}</strong> waits for you to sign in. It gets a token by which it may do in packages what you may.</p>
<p>Go on only if you have just typed <code>npm login</code>, or the like, there yourself.</p>
${wrong === null ? '' : html`<p role="alert"><strong>${wrong}</strong></p>`}
<form method="post">
<p><label>Name<br><input name="name" autocomplete="username" required autofocus></label></p>
<p><label>Password<br><input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button>Sign in, and give it a token</button></p>
</form>`,
    true,
  )

export const signedInPage = ({ baseUrl, from }: Shown) =>
  told(
    baseUrl,
    'Signed in',
    html`<p>The program at <strong>${from}</strong> has its token now, or asks for it in a moment. You may close this page.</p>
<p class="soft">The token ends after 90 days, and with <code>npm logout</code> at once. It is among your tokens.</p>`,
    false,
  )

export const noSignInPage = (baseUrl: string, why: string) =>
  told(baseUrl, 'This sign-in has ended', html`<p>${why}</p>`, false)
