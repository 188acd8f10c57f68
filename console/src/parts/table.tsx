import type { ReactNode } from 'react'

/** A short table that needs no window; it scrolls sideways by itself where it is too wide. */
export const Table = ({ heads, children }: { readonly heads: readonly string[]; readonly children: ReactNode }) => (
  <div className="scroll-x panel">
    <table className="plain-table">
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head}>{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)
