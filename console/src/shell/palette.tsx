import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Icon, type IconName } from '../look/icons.tsx'
import { digestIn, querySaid } from '../pages/search-words.ts'
import { Dialog } from '../parts/dialog.tsx'
import { shownAs } from '../parts/values.tsx'
import { ask, useHolders } from '../session/holders.ts'
import { t } from '../words/words.ts'
import { closePalette, openPalette, usePalette } from './palette-state.ts'

interface Choice {
  readonly key: string
  readonly icon: IconName
  readonly text: string
  readonly note: string
  readonly go: () => unknown
}

const laterMs = 150

const useLater = (text: string): string => {
  const [later, setLater] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), laterMs)
    return () => clearTimeout(timer)
  }, [text])
  return later
}

/**
 * Everywhere by its name: pages and repositories at once, files as the service finds them. What comes later stands below
 * what is there, so that the highlighted row stays where it is.
 */
export const Palette = () => {
  const open = usePalette()
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        openPalette()
      }
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return (
    <Dialog title={t('palette.title')} open={open} close={closePalette} size="lg" instant>
      <Choices />
    </Dialog>
  )
}

const Choices = () => {
  const navigate = useNavigate()
  const { session, keys } = useHolders()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  // Before the next key arrives: a dialog takes the focus after a while, and what was typed by then would be lost, or
  // would be commands.
  useLayoutEffect(() => field.current?.focus({ preventScroll: true }), [])
  const later = useLater(text.trim())
  const found = useQuery({
    queryKey: ['palette', later],
    enabled: later.length > 1,
    queryFn: ({ signal }) => ask('searchEverywhere', { query: { ...querySaid(later), order: 'desc' } }, signal),
  })

  const choices = useMemo<readonly Choice[]>(() => {
    const low = text.trim().toLowerCase()
    const holds = (name: string): boolean => low === '' || name.toLowerCase().includes(low)
    const administers = session?.administrator === true || keys.length > 0
    const pages: Choice[] = (
      [
        ['/', 'home', t('nav.home')],
        ['/r', 'box', t('nav.repositories')],
        ['/transfers', 'transfers', t('nav.transfers')],
        ['/connect', 'plug', t('nav.connect')],
        ...(administers
          ? ([
              ['/access', 'people', t('nav.access')],
              ['/system', 'gauge', t('nav.system')],
              ['/system/backups', 'disk', t('nav.backups')],
            ] as const)
          : []),
        ['/me', 'shield', t('nav.you')],
      ] as const
    )
      .filter(([, , name]) => holds(name))
      .map(([to, icon, name]) => ({ key: to, icon, text: name, note: t('palette.page'), go: () => navigate({ to }) }))
    const repositories: Choice[] = (session?.permissions.repositories ?? [])
      .filter(({ repository }) => holds(repository))
      .slice(0, 8)
      .map(({ repository }) => ({
        key: `r/${repository}`,
        icon: 'box',
        text: repository,
        note: t('palette.repository'),
        go: () => navigate({ to: '/r/$repository', params: { repository } }),
      }))
    const searched: Choice[] =
      low === ''
        ? []
        : [
            {
              key: 'search',
              icon: 'search',
              text: digestIn(low) === null ? t('palette.search', { text: text.trim() }) : t('palette.digest'),
              note: '',
              go: () => navigate({ to: '/search', search: { q: text.trim() } }),
            },
          ]
    const files: Choice[] =
      low.length < 2
        ? []
        : (found.data?.items ?? []).slice(0, 20).map((hit) => ({
            key: `${hit.repository}/${hit.id}`,
            icon: 'file',
            text: hit.name,
            note: hit.repository,
            go: () =>
              navigate({ to: '/r/$repository/artifacts/$id', params: { repository: hit.repository, id: hit.id } }),
          }))
    return low === '' ? [...pages, ...repositories] : [...repositories, ...pages, ...searched, ...files]
  }, [text, session, keys, found.data, navigate])

  const bounded = Math.min(at, choices.length - 1)
  useEffect(() => {
    list.current?.querySelector(`#choice-${bounded}`)?.scrollIntoView({ block: 'nearest' })
  }, [bounded])

  const pick = (choice: Choice | undefined): void => {
    if (choice === undefined) return
    closePalette()
    void choice.go()
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(bounded + 1, choices.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(bounded - 1, 0))
    else if (event.key === 'Enter') pick(choices[bounded])
    else return
    event.preventDefault()
  }
  return (
    <div>
      <TextInput
        ref={field}
        aria-label={t('palette.find')}
        placeholder={t('palette.hint')}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKey}
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={choices[bounded] === undefined ? undefined : `choice-${bounded}`}
        autoComplete="off"
        data-autofocus
      />
      <div
        className="palette-list"
        id="palette-list"
        role="listbox"
        aria-label={t('palette.title')}
        ref={list}
        tabIndex={-1}
      >
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          <div
            key={choice.key}
            id={`choice-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === bounded}
            onClick={() => pick(choice)}
            onMouseMove={() => setAt(index)}
          >
            <Icon name={choice.icon} />
            <span>{shownAs(choice.text)}</span>
            <span className="muted small">{shownAs(choice.note)}</span>
          </div>
        ))}
      </div>
      <p className="muted small" role="status">
        {found.isFetching ? t('state.loading') : t('palette.count', { count: choices.length })}
      </p>
    </div>
  )
}
