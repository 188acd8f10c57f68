import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { useAsk } from '../contract/asking.ts'
import { call } from '../contract/call.ts'
import { isProblem } from '../contract/problem.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Failed } from '../parts/states.tsx'
import { choose, language, languages, said, t } from '../words/words.ts'
import { refreshSession } from './holders.ts'
import { Instance } from './instance.tsx'
import { beginSession, endSession, session } from './session.ts'

/** What a form sends, whether it is under way, and what it was told. */
const useSubmit = (send: () => Promise<void>) => {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setError(null)
    try {
      await send()
    } catch (told) {
      setError(told)
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, submit: (event: FormEvent) => void submit(event) }
}

const signIn = async (name: string, password: string): Promise<void> => {
  beginSession(await call('login', { body: { name, password } }, null))
  await refreshSession()
}

const NameAndPassword = ({
  label,
  send,
  name,
  fresh,
}: {
  readonly label: string
  readonly send: (name: string, password: string) => Promise<void>
  readonly name?: string
  readonly fresh: boolean
}) => {
  const [typed, setTyped] = useState(name ?? '')
  const [password, setPassword] = useState('')
  const { busy, error, submit } = useSubmit(() => send(typed, password))
  return (
    <form className="form" onSubmit={submit}>
      <TextInput
        label={t('sign.name')}
        autoComplete="username"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        readOnly={name !== undefined}
        required
        withAsterisk={false}
        data-autofocus={name === undefined ? true : undefined}
      />
      <PasswordInput
        label={t('sign.password')}
        autoComplete={fresh ? 'new-password' : 'current-password'}
        description={fresh ? t('sign.length') : undefined}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': t('sign.show') }}
        required
        withAsterisk={false}
        data-autofocus={name === undefined ? undefined : true}
      />
      {error === null ? null : <Failed error={error} />}
      <Button type="submit" loading={busy}>
        {label}
      </Button>
    </form>
  )
}

const Frame = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = t('page.title', { page: title })
    heading.current?.focus()
  }, [title])
  return (
    <div className="sign-in">
      <div className="brand">
        <span className="word-mark">svc</span>
        <Instance />
      </div>
      <main className="panel" id="main">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </main>
      <div className="line small">
        {languages.map((each) => (
          <button
            key={each}
            type="button"
            className="link"
            lang={each}
            aria-current={each === language()}
            onClick={() => void choose(each)}
          >
            {said('language', each)}
          </button>
        ))}
      </div>
    </div>
  )
}

/** The page for whoever is not signed in: sign-in, a first account, or an account of one's own where that is open. */
export const SignIn = ({ setup }: { readonly setup: boolean }) => {
  const options = useAsk('getAuthOptions', {})
  const [registering, setRegistering] = useState(false)
  const first = options.data?.setupRequired === true
  if (setup || first) return <Welcome />
  if (registering)
    return (
      <Frame title={t('sign.register')}>
        <NameAndPassword
          fresh
          label={t('sign.create')}
          send={async (name, password) => {
            beginSession(await call('register', { body: { name, password } }, null))
            await refreshSession()
          }}
        />
        <button type="button" className="link" onClick={() => setRegistering(false)}>
          {t('sign.have')}
        </button>
      </Frame>
    )
  return (
    <Frame title={t('sign.in')}>
      {options.error === null ? null : <Failed error={options.error} again={() => void options.refetch()} />}
      <NameAndPassword fresh={false} label={t('sign.in')} send={signIn} />
      {options.data?.selfRegistration === true ? (
        <button type="button" className="link" onClick={() => setRegistering(true)}>
          {t('sign.register')}
        </button>
      ) : (
        <p className="muted small">{t('sign.ask')}</p>
      )}
    </Frame>
  )
}

/** The first owner, by the recovery key: three fields, and then how to store a first file. */
const Welcome = () => {
  const navigate = useNavigate()
  const [key, setKey] = useState('')
  const [name, setName] = useState('owner')
  const [password, setPassword] = useState('')
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const begin = async (): Promise<void> => {
    setBusy(true)
    setError(null)
    try {
      await call('createUser', { body: { name, password, administrator: true } }, key.trim())
      await signIn(name, password)
      await navigate({ to: '/connect', search: { repository: 'releases' } })
    } catch (told) {
      setError(told)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Frame title={t('welcome.title')}>
      <p className="muted">{t('welcome.lead')}</p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          void begin()
        }}
      >
        <PasswordInput
          label={t('welcome.key')}
          description={t('welcome.where')}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          autoComplete="off"
          visibilityToggleButtonProps={{ 'aria-label': t('sign.show') }}
          required
          withAsterisk={false}
        />
        <TextInput
          label={t('sign.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="username"
          required
          withAsterisk={false}
        />
        <PasswordInput
          label={t('sign.password')}
          description={t('sign.length')}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': t('sign.show') }}
          required
          withAsterisk={false}
        />
        {error === null ? null : <Failed error={error} />}
        <Button type="submit" loading={busy}>
          {t('welcome.begin')}
        </Button>
      </form>
      {isProblem(error) && error.code === 'permission_missing' ? <Link to="/">{t('sign.in')}</Link> : null}
    </Frame>
  )
}

/** Over the page, whose forms stay as they are. */
export const SignInOver = ({ open }: { readonly open: boolean }) => {
  const client = useQueryClient()
  const name = session()?.account.name
  return (
    <Dialog title={t('sign.again')} open={open} close={() => {}} closable={false}>
      <div className="form">
        <p className="muted">{t('sign.kept')}</p>
        <NameAndPassword
          fresh={false}
          label={t('sign.in')}
          {...(name === undefined ? {} : { name })}
          send={async (typed, password) => {
            await signIn(typed, password)
            await client.invalidateQueries()
          }}
        />
        <button type="button" className="link" onClick={endSession}>
          {t('sign.other')}
        </button>
      </div>
    </Dialog>
  )
}
