import { expect, test } from 'vitest'
import { routesOf } from './documents.js'

test('a route says whether it answers with one value, with lines or with events', () => {
  const get = (type: string) => ({
    get: {
      responses: {
        200: { content: { [type]: {} } },
        default: { content: { 'application/json': {} } },
      },
    },
  })
  const routes = routesOf({
    paths: {
      '/admin/v1/apps/{appId}': get('application/json'),
      '/admin/v1/audit/export': get('application/x-ndjson'),
      '/admin/v1/apps/{appId}/stream': get('text/event-stream'),
    },
  })
  expect(routes.map(({ name, format }) => [name, format])).toEqual([
    ['GET /apps/{appId}', 'json'],
    ['GET /audit/export', 'lines'],
    ['GET /apps/{appId}/stream', 'events'],
  ])
})
