import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { t } from '../words/words.ts'
import { Copy } from './copy.tsx'
import { shownAs, Written } from './values.tsx'

/** Where a path lies, folder by folder, each a link. */
export const Crumbs = ({
  repository,
  path,
  isFile = false,
}: {
  readonly repository: string
  readonly path: string
  readonly isFile?: boolean
}) => {
  const names = path.split('/').filter((each) => each !== '')
  const folders = isFile ? names.slice(0, -1) : names
  return (
    <nav className="crumbs" aria-label={t('files.where')}>
      <Link to="/r/$repository/files/$" params={{ repository, _splat: '' }}>
        {repository}
      </Link>
      {folders.map((name, index) => {
        const to = `${folders.slice(0, index + 1).join('/')}/`
        return (
          <Fragment key={to}>
            <span className="sep">/</span>
            <Link to="/r/$repository/files/$" params={{ repository, _splat: to }}>
              <Written text={name} />
            </Link>
          </Fragment>
        )
      })}
      {isFile ? (
        <>
          <span className="sep">/</span>
          <strong>{shownAs(names.at(-1))}</strong>
        </>
      ) : null}
      {path === '' ? null : <Copy text={path} what={t('list.path')} />}
    </nav>
  )
}
