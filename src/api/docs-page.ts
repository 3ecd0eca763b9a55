import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { Router } from 'express';
import express from 'express';

/** Swagger UI's own files; nothing is fetched from elsewhere. */
const ASSETS = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Collections pipeline: API</title>
<link rel="stylesheet" href="docs/assets/swagger-ui.css">
<link rel="icon" href="docs/assets/favicon-32x32.png">
</head>
<body>
<div id="api"></div>
<script src="docs/assets/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

/** Apart from the page, because the page may run no script of its own. */
const START = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#api', deepLinking: true, persistAuthorization: false });
`;

/** The document and pages to read it in. They say nothing that the source does not, so they need no token. */
export function docsPage(document: object): Router {
  const router = express.Router();
  router.get('/openapi.json', (_request, response) => void response.json(document));
  router.get('/docs', ({ path }, response) => {
    // With a slash at its end the page would look for its files one folder too deep.
    if (path.endsWith('/')) response.redirect(301, '../docs');
    else response.type('html').send(PAGE);
  });
  router.get('/docs/start.js', (_request, response) => void response.type('js').send(START));
  router.use('/docs/assets', express.static(ASSETS, { index: false, maxAge: '1d' }));
  return router;
}
