import { useQuery } from '../../api/query.js'
import type { Page, StoredTable } from '../../api/shapes.js'
import { bytesOf, grouped } from '../../parts/format.js'
import { Section } from './Section.js'

/** How much disk space each table of the database uses. */
export function Storage() {
  const query = useQuery<Page<StoredTable>>('/storage')
  return (
    <Section
      title="Tables, the largest first"
      query={query}
      path="/storage"
      command="purser storage"
      columns={[
        { name: 'Table', cell: ({ name }) => <code>{name}</code> },
        {
          name: 'Rows (estimate)',
          isNumber: true,
          cell: ({ rows }) => (rows === null ? 'not counted yet' : grouped(rows)),
        },
        { name: 'Size', isNumber: true, cell: ({ bytes }) => bytesOf(bytes) },
        {
          name: 'Its indexes',
          shown: 'wide',
          isNumber: true,
          cell: ({ indexBytes }) => bytesOf(indexBytes),
        },
      ]}
      keyOf={({ name }) => name}
      empty="No table"
    />
  )
}
